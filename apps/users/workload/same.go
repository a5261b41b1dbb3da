package workload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/server"
)

// Responses are compared with those of the reference, a correct service in this process. It has its own clock,
// so times are compared roughly (see sameUser).

// isSameBody compares users or pages. It accepts the JSON of protocol buffers: createdAt, ids as strings, and
// omitted zeros and empty lists.
func isSameBody(want, got []byte) bool {
	var shape struct {
		ID    *json.RawMessage `json:"id"`
		Users *json.RawMessage `json:"users"`
	}
	if json.Unmarshal(want, &shape) != nil {
		return false
	}
	switch {
	case shape.Users != nil:
		w, okWant := readPage(want)
		g, okGot := readPage(got)
		sameNumbers := w.Total == g.Total && w.Page == g.Page && w.Limit == g.Limit
		return okWant && okGot && sameNumbers && slices.EqualFunc(w.Users, g.Users, sameUser)
	case shape.ID != nil:
		w, okWant := readUser(want)
		g, okGot := readUser(got)
		return okWant && okGot && sameUser(w, g)
	}
	return server.SameJSON(want, got)
}

// sameUser compares users. For a time of the reference, got must have a later time, in microseconds.
func sameUser(want, got users.User) bool {
	sameTime := func(want, got time.Time) bool {
		if want.Equal(referenceTime()) {
			return got.After(referenceTime()) && got.Equal(got.Truncate(time.Microsecond))
		}
		return want.Equal(got)
	}
	sameText := want.ID == got.ID && want.Name == got.Name && want.Email == got.Email
	sameTimes := sameTime(want.CreatedAt, got.CreatedAt) && sameTime(want.UpdatedAt, got.UpdatedAt)
	return sameText && sameTimes && !got.UpdatedAt.Before(got.CreatedAt)
}

// object is a JSON object. Read members are removed; the rest is unknown.
type object map[string]json.RawMessage

func readObject(body []byte) (object, bool) {
	var o object
	return o, json.Unmarshal(body, &o) == nil && o != nil
}

// takeMember removes and returns the first member with one of names, or returns nil.
func (o object) takeMember(names ...string) json.RawMessage {
	for _, name := range names {
		if v, ok := o[name]; ok {
			delete(o, name)
			return v
		}
	}
	return nil
}

// parseNumber parses an integer with or without quotes.
func parseNumber(v json.RawMessage) (int64, bool) {
	n, err := strconv.ParseInt(strings.Trim(string(v), `"`), 10, 64)
	return n, err == nil
}

// parseValue parses a value of type T. It returns false if v is nil or invalid.
func parseValue[T any](v json.RawMessage) (value T, ok bool) {
	return value, v != nil && json.Unmarshal(v, &value) == nil
}

// readUser parses a user, which must have exactly the known members.
func readUser(body []byte) (u users.User, ok bool) {
	o, ok := readObject(body)
	if !ok {
		return u, false
	}
	var valid [5]bool
	u.ID, valid[0] = parseNumber(o.takeMember("id"))
	u.Name, valid[1] = parseValue[string](o.takeMember("name"))
	u.Email, valid[2] = parseValue[string](o.takeMember("email"))
	u.CreatedAt, valid[3] = parseValue[time.Time](o.takeMember("created_at", "createdAt"))
	u.UpdatedAt, valid[4] = parseValue[time.Time](o.takeMember("updated_at", "updatedAt"))
	return u, len(o) == 0 && !slices.Contains(valid[:], false)
}

// readPage parses a page, which must have exactly the known members. Zero totals and empty lists may be missing.
func readPage(body []byte) (p users.Page, ok bool) {
	o, ok := readObject(body)
	if !ok {
		return p, false
	}
	if total := o.takeMember("total"); total != nil {
		if p.Total, ok = parseNumber(total); !ok {
			return p, false
		}
	}
	page, hasPage := parseValue[int](o.takeMember("page"))
	limit, hasLimit := parseValue[int](o.takeMember("limit"))
	p.Page, p.Limit = page, limit
	var list []json.RawMessage
	if text := o.takeMember("users"); text != nil && json.Unmarshal(text, &list) != nil {
		return p, false
	}
	for _, text := range list {
		u, ok := readUser(text)
		if !ok {
			return p, false
		}
		p.Users = append(p.Users, u)
	}
	return p, len(o) == 0 && hasPage && hasLimit
}

// whyNotRefusal returns why an error response is wrong, or "". It must be a JSON object with the code of want
// and any message.
func whyNotRefusal(want, got server.Response) string {
	if kind := got.Header[server.ContentType]; kind != server.TypeJSON {
		return fmt.Sprintf("status %d with content type %q, want %q", got.Status, kind, server.TypeJSON)
	}
	var w, g users.Error
	if json.Unmarshal(want.Body, &w) != nil || json.Unmarshal(got.Body, &g) != nil {
		return fmt.Sprintf("status %d with a body that is no refusal: %.60q", got.Status, got.Body)
	}
	switch {
	case g.Code != w.Code:
		return fmt.Sprintf("status %d with code %q, want %q", got.Status, g.Code, w.Code)
	case g.Message == "":
		return fmt.Sprintf("status %d without a message", got.Status)
	}
	return ""
}

// whyImpossible returns why no store can give this response, e.g. "requested user 7, got 8", or "". It does
// not know earlier requests.
func whyImpossible(w wire.Workload, q server.Request, got server.Response) string {
	c, ok := callOf(q)
	if !ok || got.Status >= 300 {
		return "" // the caller has checked the status
	}
	switch c.Op {
	case opDelete:
		if !server.SameJSON([]byte("{}"), bytes.TrimSpace(got.Body)) {
			return fmt.Sprintf("want {}, got %.60q", got.Body)
		}
		return ""
	case opList:
		return whyImpossiblePage(c, got)
	}
	u, ok := readUser(got.Body)
	switch {
	case !ok:
		return fmt.Sprintf("%.60q is no user", got.Body)
	case c.Op != opCreate && c.IDCounter == "" && u.ID != c.ID:
		return fmt.Sprintf("requested user %d, got %d", c.ID, u.ID)
	case c.Op == opCreate && u.ID < users.FirstID+int64(w.N):
		return fmt.Sprintf("a new user has the id %d", u.ID)
	case c.Op != opGet && (u.Name != c.Name || !matchesEmail(c.Email, u.Email)):
		return fmt.Sprintf("asked for %q and %q, got %q and %q", c.Name, c.Email, u.Name, u.Email)
	case c.Op == opGet && !isKnownUser(u):
		return fmt.Sprintf("user %d is called %q, %q", u.ID, u.Name, u.Email)
	}
	return ""
}

// whyImpossiblePage is whyImpossible for a page.
func whyImpossiblePage(c rpc.Call, got server.Response) string {
	p, ok := readPage(got.Body)
	isRequested := p.Page == c.Page && p.Limit == c.Limit
	hasTooMany := len(p.Users) > c.Limit || int64(len(p.Users)) > p.Total
	switch {
	case !ok:
		return fmt.Sprintf("%.60q is no page", got.Body)
	case !isRequested || hasTooMany:
		return fmt.Sprintf("requested page %d of %d, got %d users of %d on page %d of %d", c.Page, c.Limit, len(p.Users), p.Total, p.Page, p.Limit)
	case !slices.IsSortedFunc(p.Users, func(a, b users.User) int { return int(min(max(a.ID-b.ID, -1), 1)) }):
		return "the users of a page are not in the order of their ids"
	}
	return ""
}

// matchesEmail reports whether got is the e-mail of a call. %09d in it means any nine digits.
func matchesEmail(email, got string) bool {
	before, after, ok := strings.Cut(email, serial)
	if !ok {
		return email == got
	}
	n := strings.TrimSuffix(strings.TrimPrefix(got, before), after)
	return len(n) == digits && strings.Trim(n, "0123456789") == "" && got == before+n+after
}

// isKnownUser reports whether u is seeded, or created or updated by this workload.
func isKnownUser(u users.User) bool {
	if matchesEmail(createdEmail, u.Email) || matchesEmail(updatedEmail, u.Email) {
		return true
	}
	k := u.ID - users.FirstID
	return k >= 0 && k < maxUsers && sameUser(users.Seeded(int(k)), u)
}
