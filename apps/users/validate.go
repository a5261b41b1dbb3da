package users

import (
	"fmt"
	"math"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of requests.
const (
	MinName  = 3   // characters
	MaxName  = 100 // characters
	MaxEmail = 254 // bytes, as RFC 5321, section 4.5.3.1.3, leaves them
	MaxText  = 254 // characters of a query

	DefaultLimit = 10  // users on a page
	MaxLimit     = 100 // users on a page
)

// Normal returns the stored form of the draft: both trimmed of space, and the e-mail in lower case.
func (d Draft) Normal() Draft {
	return Draft{Name: strings.TrimSpace(d.Name), Email: lowerValid(strings.TrimSpace(d.Email))}
}

// Check returns what is wrong with a draft that is normal, the name's fault first; nil if nothing
// is. Its errors are an [*Error].
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

// Normal returns the effective query: text trimmed of space and in lower case, page and limit
// filled in, and the limit bounded from above.
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

// Check returns what is wrong with a query that is normal: with the page, the limit, or the text,
// in this order; nil if nothing is. Its errors are an [*Error].
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

// pageOffset returns how many users come before the page, at most MaxInt.
func (q Query) pageOffset() int {
	if q.Page-1 > math.MaxInt/q.Limit {
		return math.MaxInt
	}
	return (q.Page - 1) * q.Limit
}

// lowerValid returns s in lower case, and s itself if it is not UTF-8: it will be rejected as it
// is.
func lowerValid(s string) string {
	if !utf8.ValidString(s) {
		return s
	}
	return strings.ToLower(s)
}

// checkText returns an error for text that not every store can store or search for.
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

// isAddress reports whether net/mail reads s as an address and nothing else: no name, comment,
// angle brackets or quotation.
func isAddress(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	a, err := mail.ParseAddress(s)
	return err == nil && a.Name == "" && a.Address == s && checkText("email", s) == nil
}

// isPlainAddress reports whether s is one of the usual addresses, which need not be parsed: two
// rows of atoms in ASCII, separated by dots, with an at sign between them. See RFC 5322, section
// 3.4.1.
func isPlainAddress(s string) bool {
	at, dot := false, true // dot: an atom has to begin next
	for i := range len(s) {
		switch c := s[i]; {
		case isAtom(c):
			dot = false
		case dot:
			return false
		case c == '@' && !at:
			at, dot = true, true
		case c == '.':
			dot = true
		default:
			return false
		}
	}
	return at && !dot
}

// isAtom reports whether c can be a part of an atom.
func isAtom(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || strings.IndexByte("!#$%&'*+-/=?^_`{|}~", c) >= 0
}

func invalidError(format string, args ...any) error {
	return &Error{Code: InvalidArgument, Message: fmt.Sprintf(format, args...)}
}
