package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/tarebench/tare/apps/users"
)

// Operations of a [Call]: the methods of [Client].
const (
	OpCreate = "create"
	OpGet    = "get"
	OpUpdate = "update"
	OpDelete = "delete"
	OpList   = "list"
)

// Call is one call that a client makes, in JSON one line of a workload's pool (the file of its inputs):
//
//	{"op":"get","id":1,"id_counter":"created"}
//
// Fields that an operation does not use are omitted.
type Call struct {
	Op string `json:"op"`

	ID        int64  `json:"id,omitempty"`
	IDCounter string `json:"id_counter,omitempty"` // name of a counter whose value is added to ID
	IDStep    bool   `json:"id_step,omitempty"`    // the call increments IDCounter

	Name         string `json:"name,omitempty"`
	Email        string `json:"email,omitempty"`
	EmailCounter string `json:"email_counter,omitempty"` // name of a counter whose value replaces %09d in Email
	EmailStep    bool   `json:"email_step,omitempty"`    // the call increments EmailCounter

	Query string `json:"query,omitempty"`
	Page  int    `json:"page,omitempty"`
	Limit int    `json:"limit,omitempty"`

	Status int `json:"status,omitempty"` // HTTP status of the expected error; 0 means success
}

// Names of counters; see [Counters].
const (
	Created = "created"
	Deleted = "deleted"
	Updated = "updated"
)

// Counters number the objects that calls create, update and delete, as package load does. So each call uses
// the next object. They start at zero; callers may share them.
type Counters struct{ created, deleted, updated atomic.Int64 }

// Reset sets all counters to zero.
func (n *Counters) Reset() {
	n.created.Store(0)
	n.deleted.Store(0)
	n.updated.Store(0)
}

// nextNumber returns a counter, and increments it if step is set. An unknown name gives 0.
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

// numberVerb is the number in an address such as user-%09d@example.org.
const numberVerb = "%09d"

// ParseCall parses a line of a pool and checks the call.
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
	if !slices.Contains([]string{OpCreate, OpGet, OpUpdate, OpDelete, OpList}, c.Op) {
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

// Fill sets ID and Email from the counters, and increments them if IDStep or EmailStep is set. Fill a call
// each time before it is made.
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

// fillNumber replaces numberVerb by n, with leading zeros up to nine digits. It is within the measured time,
// so it avoids fmt.
func fillNumber(email string, n int64) string {
	start := strings.Index(email, numberVerb)
	if start < 0 {
		return email
	}
	const minDigits = 9 // see numberVerb
	var digits [20]byte // at most 19 digits and a sign
	text := strconv.AppendInt(digits[:0], n, 10)
	var buffer [128]byte
	b := append(buffer[:0], email[:start]...)
	for range minDigits - len(text) {
		b = append(b, '0')
	}
	return string(append(append(b, text...), email[start+len(numberVerb):]...))
}

// Outcome is the result of a call.
type Outcome struct {
	User users.User // result of create, get and update
	Page users.Page // result of list
}

// Do makes the filled call with a client. It returns the client's own error.
func (c Call) Do(ctx context.Context, client Client) (out Outcome, err error) {
	switch c.Op {
	case OpCreate:
		out.User, err = client.Create(ctx, users.Draft{Name: c.Name, Email: c.Email})
	case OpGet:
		out.User, err = client.Get(ctx, c.ID)
	case OpUpdate:
		out.User, err = client.Update(ctx, c.ID, users.Draft{Name: c.Name, Email: c.Email})
	case OpDelete:
		err = client.Delete(ctx, c.ID)
	case OpList:
		out.Page, err = client.List(ctx, users.Query{Text: c.Query, Page: c.Page, Limit: c.Limit})
	}
	return out, err
}

// Wrong compares err, which Do returned, with the expected outcome: success, or an error with c.Status. It
// returns nil if they agree.
func (c Call) Wrong(err error) error {
	if err == nil {
		mustSucceed := c.Status < http.StatusBadRequest
		if mustSucceed {
			return nil
		}
		return fmt.Errorf("%s: answered, want an error response with status %d", c.Op, c.Status)
	}
	var serviceErr *users.Error
	if errors.As(err, &serviceErr) && serviceErr.Code.HTTP() == c.Status {
		return nil
	}
	return fmt.Errorf("%s: %w", c.Op, err)
}

// JSON formats the result of Do, the same for all protocols: a user or page, {} for delete, or a code such as
// {"code":"not_found"}. It returns other errors.
func (c Call) JSON(out Outcome, err error) ([]byte, error) {
	if err != nil {
		var serviceErr *users.Error
		if !errors.As(err, &serviceErr) {
			return nil, err
		}
		return json.Marshal(struct {
			Code users.Code `json:"code"`
		}{serviceErr.Code})
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
