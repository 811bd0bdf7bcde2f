"""Recovery's decisions in plain words: why, and what happens next.

What each answer to an escalation would do is told with its dossier, not here.
"""

from types import MappingProxyType
from typing import Final

_PERSON: Final = "A person decides."
_NOTHING_LEAVES: Final = "Nothing is sent meanwhile."
_LOOKS_AGAIN: Final = "The provider is asked again by itself."
_NEW_PROPOSAL: Final = "The operation ends as failed, and a new proposal is offered."
_IF_NOTHING_LEFT: Final = (
    "If nothing had reached the provider, the operation ends as failed and a new proposal is "
    "offered; if something may have, a person decides."
)

WORDS: Final = MappingProxyType(
    {
        # Who may act, and records that are closed.
        "CANNOT_JUDGE": (
            "Outlive's own code failed on this operation.",
            "Nothing is sent; a person looks at it, and at the log.",
        ),
        "WINDOWS_CLOSING": (
            "Operations in doubt are held back, and their key windows end soon.",
            "A person decides whether the cap, the brake or the breaker gives way in time.",
        ),
        "FENCED": (
            "Somebody else has taken the operation over, or something was learned since then.",
            "This worker stops here and writes nothing; the operation is judged anew.",
        ),
        "AGREES": ("The record and the provider say the same.", "Nothing is to be done."),
        "FINAL_UNCLEAR": (
            "The record is closed, and this look-up neither bears it out nor contradicts it.",
            "It is looked at again later, and never sent.",
        ),
        "CONFIRMED_UNSEEN": (
            "The record says confirmed, but the provider does not show the effect now.",
            "It is looked for again; if it stays away, a person is asked.",
        ),
        "EFFECT_VANISHED": (
            "The provider accepted the operation, and does not show its effect any more.",
            _PERSON,
        ),
        "LATE_EFFECT": (
            "The record says failed, but the provider shows the effect.",
            "A person decides whether the record is corrected.",
        ),
        "LATE_FAILURE_AFTER_SUCCESS": (
            "The record says confirmed, but the effect failed at the provider afterwards.",
            "A person decides whether the record is corrected.",
        ),
        # Found.
        "UNRECORDED_EFFECT": (
            "An effect at the provider bears this ledger's marker, and no operation here is its.",
            "Nothing else is sent to its target; a person says what it is.",
        ),
        "DUPLICATE_EFFECT": (
            "The provider shows more than one living effect of this operation.",
            "Nothing more is sent; a person decides which one stands.",
        ),
        "EFFECT_MISMATCH": (
            "An effect carries this operation's id, but not what was approved.",
            "Nothing more is sent; a person decides.",
        ),
        "CONFIRMED": (
            "The provider shows that it took effect.",
            "The operation ends as confirmed, and is watched.",
        ),
        "POSSIBLE_HAND_DOUBLE": (
            (
                "It took effect, and another effect that is not this ledger's came onto the target "
                "since it was approved."
            ),
            "A person looks whether the same thing was done twice.",
        ),
        "ALREADY_SO": (
            "The target was already as wanted; nothing of this operation did it.",
            "The operation ends as failed, without effect.",
        ),
        "PROVIDER_PENDING": (
            "The provider has accepted it and is still working on it.",
            _LOOKS_AGAIN,
        ),
        "PENDING_STALE": ("The provider has been working on it for too long.", _PERSON),
        "CUSTOMER_ACTION": (
            "The provider waits for something that the customer must do.",
            "It is looked at again; if it takes too long, a person is asked.",
        ),
        "PROVIDER_FAILED": (
            "The provider took it up, and then it failed there.",
            _NEW_PROPOSAL,
        ),
        # The look-up said nothing.
        "PROVIDER_AUTH": (
            "The provider refuses the credential that look-ups use.",
            "Sending with it stops; if that goes on, one question is asked for the whole account.",
        ),
        "TARGET_NOT_VISIBLE": (
            "The provider does not show the target to the credential in use.",
            "It is looked for again; if it stays away, a person is asked.",
        ),
        "PROVIDER_UNREACHABLE": (
            "The provider did not give an answer that can be believed.",
            "It is asked again; if that goes on, one question is asked for the whole account.",
        ),
        # Nothing found, and nothing more to do.
        "GIVEN_UP": (
            "A person gave the operation up.",
            "It is watched, and never sent again.",
        ),
        "ACCEPTED_UNSEEN": (
            "The provider accepted it, and does not show its effect yet.",
            "It is looked for again; if it stays away, a person is asked.",
        ),
        "REJECTED": (
            "The provider refused it for good, and nothing took effect.",
            _NEW_PROPOSAL,
        ),
        "AUTH_EXPIRED_NO_EFFECT": (
            "The authorization ended before anything reached the provider.",
            _NEW_PROPOSAL,
        ),
        "AUTH_REVOKED_NO_EFFECT": (
            "The authorization was revoked before anything reached the provider.",
            _NEW_PROPOSAL,
        ),
        # The world has changed.
        "FOREIGN_EFFECT": (
            "An effect that is not this ledger's came onto the target since it was approved.",
            _IF_NOTHING_LEFT,
        ),
        "REMAINDER_TOO_SMALL": (
            (
                "The target can't take the whole amount any more; a sending of ours may be what "
                "used it up."
            ),
            _IF_NOTHING_LEFT,
        ),
        # Not now.
        "ESCALATION_OPEN": (
            "A question about this operation is open.",
            "Nothing is sent before it is answered; look-ups go on, and may settle it.",
        ),
        "SETTLING": (
            "Something sent may still take effect, so that “absent” can't be believed yet.",
            "The provider is asked again as soon as it can.",
        ),
        "CACHED_500": (
            (
                "The provider saved an internal error under this key: a repetition would only get "
                "it again, and the effect may exist all the same."
            ),
            "While the key is young the effect is looked for; after that, a person decides.",
        ),
        "NOT_YET_BRAKE": (
            "The brake is on.",
            f"{_NOTHING_LEAVES} It goes on when somebody releases the brake.",
        ),
        "NOT_YET_BREAKER": (
            "Too many calls with this credential failed, so that sending with it has stopped.",
            f"{_NOTHING_LEAVES} It goes on when the provider answers again.",
        ),
        "NOT_YET_CLOCK": (
            "The clocks of the database and the provider disagree, or a clock went back.",
            f"{_NOTHING_LEAVES} It goes on when they agree.",
        ),
        "NOT_YET_TARGET_BUSY": (
            "Another operation on the same target is in doubt, or is before a person.",
            f"{_NOTHING_LEAVES} It goes on when that one is settled.",
        ),
        "NOT_YET_CAP": (
            "The cap on automatic sendings of this hour is used up.",
            f"{_NOTHING_LEAVES} It goes on when the cap allows.",
        ),
        "NOT_YET_CANARY": (
            "After an outage one operation goes ahead, and it is not this one.",
            f"{_NOTHING_LEAVES} It goes on when that one has come through.",
        ),
        "NOT_YET_NOT_BEFORE": (
            "The last attempt was too short a while ago.",
            f"{_NOTHING_LEAVES} It goes on after the pause.",
        ),
        # Sending.
        "NO_EFFECT_RESEND": (
            "Nothing has reached the provider so far.",
            "The approved request is sent, under the same key.",
        ),
        "TARGET_STATE": (
            "The target is not as wanted, and asking for the same state twice does no harm.",
            "The same request is sent again.",
        ),
        "SAFE_REPLAY": (
            "No effect is to be seen, and the provider still knows the key, so it can't act twice.",
            "The same bytes are sent again, under the same key and credential.",
        ),
        "DUPLICATE_TOLERABLE": (
            "No effect is to be seen, and a duplicate of this kind is declared tolerable.",
            "The same request is sent again.",
        ),
        # Not to be sent without a person.
        "PARAM_DRIFT": (
            (
                "What is stored is not what would be sent now, or the provider first saw this key "
                "with other parameters. It never gets a new key."
            ),
            _PERSON,
        ),
        "RETRY_BUDGET": ("It was attempted as often as it may be.", _PERSON),
        "AUTH_EXPIRED_INDETERMINATE": (
            "The authorization has ended, and an earlier sending may have taken effect.",
            _PERSON,
        ),
        "AUTH_REVOKED_INDETERMINATE": (
            "The authorization was revoked, and an earlier sending may have taken effect.",
            _PERSON,
        ),
        "NO_PROOF": (
            "It may have taken effect, and this provider offers no way to find out.",
            _PERSON,
        ),
        "WINDOW_EXPIRED": (
            (
                "No effect is to be seen, and the provider may have forgotten the key: sent again, "
                "it could act a second time."
            ),
            _PERSON,
        ),
        "CREDENTIAL_CHANGED": (
            (
                "No effect is to be seen, and the key is not known to have been used with today's "
                "credential: sent again, it could act a second time."
            ),
            _PERSON,
        ),
    }
)
"""Code → why, and what happens next."""


def explain(code: str) -> str:
    """Put a decision's code into words. A code that is not ours is a type's precondition."""
    why, then = WORDS.get(
        code,
        (f"A precondition no longer holds: {code.replace('_', ' ').lower()}.", _IF_NOTHING_LEFT),
    )
    return f"{why} {then}"
