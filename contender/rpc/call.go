package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/tarebench/tare/apps/users"
)

// Operations of calls.
const (
	OpCreate = "create"
	OpGet    = "get"
	OpUpdate = "update"
	OpDelete = "delete"
	OpList   = "list"
)

// Call is one call of a service, one line of a pool. Fields that an operation does not use are omitted.
type Call struct {
	Op string `json:"op"`

	ID        int64  `json:"id,omitempty"`
	IDCounter string `json:"id_counter,omitempty"` // counter that is added to ID
	IDStep    bool   `json:"id_step,omitempty"`    // and goes up by one

	Name         string `json:"name,omitempty"`
	Email        string `json:"email,omitempty"`
	EmailCounter string `json:"email_counter,omitempty"` // counter that replaces %09d in Email
	EmailStep    bool   `json:"email_step,omitempty"`    // and goes up by one

	Query string `json:"query,omitempty"`
	Page  int    `json:"page,omitempty"`
	Limit int    `json:"limit,omitempty"`

	Status int `json:"status,omitempty"` // HTTP status of the expected error; zero if none is expected
}

// Counters of a run of calls; see [Counters].
const (
	Created = "created"
	Deleted = "deleted"
	Updated = "updated"
)

// Counters number the objects that calls create, as package load does in its requests, so that each follows
// the ones before it. They start at zero. Several callers may share them.
type Counters struct{ created, deleted, updated atomic.Int64 }

// Reset sets all counters to zero.
func (n *Counters) Reset() {
	n.created.Store(0)
	n.deleted.Store(0)
	n.updated.Store(0)
}

// nextNumber returns the value of a counter, 0 if it has no such counter, and then increments it if step is
// set.
func (n *Counters) nextNumber(name string, step bool) int64 {
	c := n.findCounter(name)
	switch {
	case c == nil:
		return 0
	case step:
		return c.Add(1) - 1
	}
	return c.Load()
}

func (n *Counters) findCounter(name string) *atomic.Int64 {
	switch name {
	case Created:
		return &n.created
	case Deleted:
		return &n.deleted
	case Updated:
		return &n.updated
	}
	return nil
}

// numberVerb marks the place of the number in an e-mail.
const numberVerb = "%09d"

// ParseCall reads a call of a pool.
func ParseCall(line []byte) (Call, error) {
	var c Call
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf("%.60q is no call: %w", line, err)
	}
	return c, c.checkCall()
}

func (c Call) checkCall() error {
	switch c.Op {
	case OpCreate, OpGet, OpUpdate, OpDelete, OpList:
	default:
		return fmt.Errorf("unknown call %q", c.Op)
	}
	for _, counter := range []string{c.IDCounter, c.EmailCounter} {
		if counter != "" && new(Counters).findCounter(counter) == nil {
			return fmt.Errorf("unknown counter %q; known: created, deleted, updated", counter)
		}
	}
	if c.EmailCounter != "" && !strings.Contains(c.Email, numberVerb) {
		return fmt.Errorf("e-mail %q has no %s for a counter", c.Email, numberVerb)
	}
	return nil
}

// Fill returns the call with the numbers of its counters filled in. Each filled call is for one caller.
func (c Call) Fill(n *Counters) Call {
	if c.IDCounter != "" {
		c.ID += n.nextNumber(c.IDCounter, c.IDStep)
	}
	if c.EmailCounter != "" {
		c.Email = fillNumber(c.Email, n.nextNumber(c.EmailCounter, c.EmailStep))
	}
	c.IDCounter, c.IDStep, c.EmailCounter, c.EmailStep = "", false, "", false
	return c
}

// fillNumber inserts n into an e-mail, in nine digits or more.
func fillNumber(email string, n int64) string {
	at := strings.Index(email, numberVerb)
	if at < 0 {
		return email
	}
	var digits [20]byte
	text := strconv.AppendInt(digits[:0], n, 10)
	var room [128]byte
	b := append(room[:0], email[:at]...)
	for range 9 - len(text) {
		b = append(b, '0')
	}
	return string(append(append(b, text...), email[at+len(numberVerb):]...))
}

// Outcome is the result of a call.
type Outcome struct {
	User users.User // of create, get and update
	Page users.Page // of list
}

// Do makes the filled call with a client. It returns the client's own error.
func (c Call) Do(ctx context.Context, to Client) (out Outcome, err error) {
	switch c.Op {
	case OpCreate:
		out.User, err = to.Create(ctx, users.Draft{Name: c.Name, Email: c.Email})
	case OpGet:
		out.User, err = to.Get(ctx, c.ID)
	case OpUpdate:
		out.User, err = to.Update(ctx, c.ID, users.Draft{Name: c.Name, Email: c.Email})
	case OpDelete:
		err = to.Delete(ctx, c.ID)
	case OpList:
		out.Page, err = to.List(ctx, users.Query{Text: c.Query, Page: c.Page, Limit: c.Limit})
	}
	return out, err
}

// Wrong returns an error if err is not the expected result of the call, nil if it is.
func (c Call) Wrong(err error) error {
	if err == nil {
		if c.Status < 400 {
			return nil
		}
		return fmt.Errorf("%s: answered, want a refusal of status %d", c.Op, c.Status)
	}
	var refusal *users.Error
	if errors.As(err, &refusal) && refusal.Code.HTTP() == c.Status {
		return nil
	}
	return fmt.Errorf("%s: %w", c.Op, err)
}

// JSON formats the result of a call in one form for all protocols: the user, the page, {} of delete, or the
// code of an error, {"code":"not_found"}. It returns errors of the transport.
func (c Call) JSON(out Outcome, err error) ([]byte, error) {
	if err != nil {
		var refusal *users.Error
		if !errors.As(err, &refusal) {
			return nil, err
		}
		return json.Marshal(struct {
			Code users.Code `json:"code"`
		}{refusal.Code})
	}
	switch c.Op {
	case OpDelete:
		return []byte("{}"), nil
	case OpList:
		p := out.Page
		p.Users = make([]users.User, len(out.Page.Users))
		for i, u := range out.Page.Users {
			p.Users[i] = toUTC(u)
		}
		return json.Marshal(p)
	}
	return json.Marshal(toUTC(out.User))
}

func toUTC(u users.User) users.User {
	u.CreatedAt, u.UpdatedAt = u.CreatedAt.UTC(), u.UpdatedAt.UTC()
	return u
}
