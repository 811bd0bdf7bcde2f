EVENT_JOB_ERROR: int

class JobExecutionEvent:
    job_id: str
    exception: BaseException | None
