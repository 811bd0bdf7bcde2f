-- Parameter: scope.
DELETE FROM brakes WHERE scope = %(scope)s::text RETURNING scope;
