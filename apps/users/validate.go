package users

import (
	"fmt"
	"math"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of requests.
const (
	MinName  = 3   // characters
	MaxName  = 100 // characters
	MaxEmail = 254 // bytes: RFC 5321, section 4.5.3.1.3, allows 256 for a path, which has two brackets
	MaxText  = 254 // characters of a query

	DefaultLimit = 10  // users on a page, if the query sets none
	MaxLimit     = 100 // users on a page
)

// Normal returns the draft as it is stored: trimmed, and the e-mail in lower case.
func (d Draft) Normal() Draft {
	return Draft{Name: strings.TrimSpace(d.Name), Email: lowerValid(strings.TrimSpace(d.Email))}
}

// Check checks a draft in normal form, the name first. The error is an [*Error].
func (d Draft) Check() error {
	if n := utf8.RuneCountInString(d.Name); n < MinName || n > MaxName {
		return invalidError("name: %d to %d characters, not %d", MinName, MaxName, n)
	}
	if err := checkText("name", d.Name); err != nil {
		return err
	}
	if len(d.Email) > MaxEmail {
		return invalidError("email: at most %d bytes, not %d", MaxEmail, len(d.Email))
	}
	if !isPlainAddress(d.Email) && !isAddress(d.Email) {
		return invalidError("email: not an address")
	}
	return nil
}

// Normal returns the query as it is executed: text trimmed and in lower case, defaults instead of 0, limit at
// most MaxLimit.
func (q Query) Normal() Query {
	q.Text = lowerValid(strings.TrimSpace(q.Text))
	if q.Page == 0 {
		q.Page = 1
	}
	if q.Limit == 0 {
		q.Limit = DefaultLimit
	}
	q.Limit = min(q.Limit, MaxLimit)
	return q
}

// Check checks a query in normal form: page, then limit, then text. The error is an [*Error].
func (q Query) Check() error {
	if q.Page < 1 {
		return invalidError("page: at least 1, not %d", q.Page)
	}
	if q.Limit < 1 {
		return invalidError("limit: at least 1, not %d", q.Limit)
	}
	if n := utf8.RuneCountInString(q.Text); n > MaxText {
		return invalidError("query: at most %d characters, not %d", MaxText, n)
	}
	return checkText("query", q.Text)
}

// pageOffset returns the number of users before the page, at most MaxInt.
func (q Query) pageOffset() int {
	if q.Page-1 > math.MaxInt/q.Limit {
		return math.MaxInt
	}
	return (q.Page - 1) * q.Limit
}

// lowerValid returns s in lower case. It leaves invalid UTF-8 as it is, because checkText must still see it.
func lowerValid(s string) string {
	if !utf8.ValidString(s) {
		return s
	}
	return strings.ToLower(s)
}

// checkText rejects text that some store cannot store or search: control characters and invalid UTF-8.
func checkText(field, s string) error {
	for _, r := range s {
		if unicode.IsControl(r) {
			return invalidError("%s: no control characters", field)
		}
	}
	if !utf8.ValidString(s) {
		return invalidError("%s: not UTF-8", field)
	}
	return nil
}

func isAddress(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	a, err := mail.ParseAddress(s)
	return err == nil && a.Name == "" && a.Address == s && checkText("email", s) == nil
}

// isPlainAddress reports whether s is an address that needs no parser: two dot-atoms (atoms with dots between)
// in ASCII around an at sign. See RFC 5322, section 3.4.1.
func isPlainAddress(s string) bool {
	hasAt, needAtom := false, true
	for i := range len(s) {
		switch c := s[i]; {
		case isAtom(c):
			needAtom = false
		case needAtom:
			return false
		case c == '@' && !hasAt:
			hasAt, needAtom = true, true
		case c == '.':
			needAtom = true
		default:
			return false
		}
	}
	return hasAt && !needAtom
}

// isAtom reports whether c may be in an atom (atext in RFC 5322).
func isAtom(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || strings.IndexByte("!#$%&'*+-/=?^_`{|}~", c) >= 0
}

func invalidError(format string, args ...any) error {
	return &Error{Code: InvalidArgument, Message: fmt.Sprintf(format, args...)}
}
