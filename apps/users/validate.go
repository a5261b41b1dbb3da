package users

import (
	"fmt"
	"math"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what may be asked.
const (
	MinName  = 3   // characters
	MaxName  = 100 // characters
	MaxEmail = 254 // bytes, as RFC 5321, section 4.5.3.1.3, leaves them
	MaxText  = 254 // characters of a query

	DefaultLimit = 10  // users on a page
	MaxLimit     = 100 // users on a page
)

// Normal is what is kept of the draft: both trimmed of space, and the e-mail in
// lower case.
func (d Draft) Normal() Draft {
	return Draft{Name: strings.TrimSpace(d.Name), Email: lower(strings.TrimSpace(d.Email))}
}

// Check says what is wrong with a draft that is normal, the name's fault first;
// nil: nothing is. Its errors are an [*Error].
func (d Draft) Check() error {
	if n := utf8.RuneCountInString(d.Name); n < MinName || n > MaxName {
		return invalid("name: %d to %d characters, not %d", MinName, MaxName, n)
	}
	if err := checkText("name", d.Name); err != nil {
		return err
	}
	if len(d.Email) > MaxEmail {
		return invalid("email: at most %d bytes, not %d", MaxEmail, len(d.Email))
	}
	if !plainAddress(d.Email) && !address(d.Email) {
		return invalid("email: not an address")
	}
	return nil
}

// Normal is the query as it is carried out: text trimmed of space and in lower
// case, page and limit filled in, and the limit bounded from above.
func (q Query) Normal() Query {
	q.Text = lower(strings.TrimSpace(q.Text))
	if q.Page == 0 {
		q.Page = 1
	}
	if q.Limit == 0 {
		q.Limit = DefaultLimit
	}
	q.Limit = min(q.Limit, MaxLimit)
	return q
}

// Check says what is wrong with a query that is normal: with the page, the
// limit, or the text, in this order; nil: nothing is. Its errors are an
// [*Error].
func (q Query) Check() error {
	if q.Page < 1 {
		return invalid("page: at least 1, not %d", q.Page)
	}
	if q.Limit < 1 {
		return invalid("limit: at least 1, not %d", q.Limit)
	}
	if n := utf8.RuneCountInString(q.Text); n > MaxText {
		return invalid("query: at most %d characters, not %d", MaxText, n)
	}
	return checkText("query", q.Text)
}

// offset is how many users come before the page; those that cannot be counted
// are more than there can be.
func (q Query) offset() int {
	if q.Page-1 > math.MaxInt/q.Limit {
		return math.MaxInt
	}
	return (q.Page - 1) * q.Limit
}

// lower is s in lower case, and s itself where it is no text: it will be
// refused as it is.
func lower(s string) string {
	if !utf8.ValidString(s) {
		return s
	}
	return strings.ToLower(s)
}

// checkText refuses what not every store can keep or look for.
func checkText(field, s string) error {
	for _, r := range s {
		if unicode.IsControl(r) {
			return invalid("%s: no control characters", field)
		}
	}
	if !utf8.ValidString(s) {
		return invalid("%s: not UTF-8", field)
	}
	return nil
}

// address reports whether net/mail reads s as an address and nothing else: no
// name, comment, angle brackets or quotation.
func address(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	a, err := mail.ParseAddress(s)
	return err == nil && a.Name == "" && a.Address == s && checkText("email", s) == nil
}

// plainAddress reports whether s is one of the addresses that nearly all are,
// which need not be parsed: two rows of atoms in ASCII, separated by dots, with
// an at sign between them. See RFC 5322, section 3.4.1.
func plainAddress(s string) bool {
	at, dot := false, true // dot: an atom has to begin here
	for i := range len(s) {
		switch c := s[i]; {
		case atom(c):
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

// atom reports whether c can be a part of an atom.
func atom(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || strings.IndexByte("!#$%&'*+-/=?^_`{|}~", c) >= 0
}

func invalid(format string, args ...any) error {
	return &Error{Code: InvalidArgument, Message: fmt.Sprintf(format, args...)}
}
