package users

import "strconv"

// MaxBody is how many bytes the body of an HTTP request may have.
const MaxBody = 64 << 10

// ParseID reads the id of a path. Its error is an [*Error].
func ParseID(s string) (int64, error) {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, invalid("id: not a number")
	}
	return id, nil
}

// ParseQuery reads what a request asks for after its path; what it does not say
// is empty. Its errors are an [*Error].
func ParseQuery(query, page, limit string) (q Query, err error) {
	q.Text = query
	if q.Page, err = count("page", page); err != nil {
		return q, err
	}
	q.Limit, err = count("limit", limit)
	return q, err
}

// count reads a number that gRPC faces have in 32 bits.
func count(field, s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0, invalid("%s: not a number", field)
	}
	return int(n), nil
}
