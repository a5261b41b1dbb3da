package users

import "strconv"

// MaxBody is the largest size of the body of an HTTP request in bytes.
const MaxBody = 64 << 10

// ParseID parses an id in a path. The error is an [*Error].
func ParseID(s string) (int64, error) {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, invalidError("id: not a number")
	}
	return id, nil
}

// ParseQuery parses the parameters of a list request. A missing parameter is "". The error is an
// [*Error].
func ParseQuery(query, page, limit string) (q Query, err error) {
	q.Text = query
	if q.Page, err = parseCount("page", page); err != nil {
		return q, err
	}
	q.Limit, err = parseCount("limit", limit)
	return q, err
}

// parseCount parses a number of 32 bits, as in gRPC. "" means 0.
func parseCount(field, s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0, invalidError("%s: not a number", field)
	}
	return int(n), nil
}
