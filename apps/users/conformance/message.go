package conformance

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/internal/protowire"
)

// message is a request message of proto/users.proto. Its fields are in the order of their numbers, from
// 1. Each value is an int64 or a string; zero values are omitted from the encoding.
type message []field

type field struct {
	name  string
	value any
}

// encodeProto returns the message in protocol buffers.
func (m message) encodeProto() []byte {
	var b []byte
	for i, f := range m {
		switch v := f.value.(type) {
		case int64:
			b = protowire.AppendNumber(b, i+1, v)
		case string:
			b = protowire.AppendString(b, i+1, v)
		}
	}
	return b
}

// encodeJSON returns the message as JSON.
func (m message) encodeJSON() []byte {
	object := map[string]any{}
	for _, f := range m {
		if f.value != any(int64(0)) && f.value != any("") {
			object[f.name] = f.value
		}
	}
	text, _ := json.Marshal(object) // marshaling numbers and strings cannot fail
	return text
}

// protoUser parses the message User. It returns an error for unknown fields.
func protoUser(m []byte) (u users.User, err error) {
	err = protowire.Walk(m, func(f protowire.Field) (err error) {
		switch f.Number {
		case 1:
			u.ID = int64(f.N)
		case 2:
			u.Name = string(f.Data)
		case 3:
			u.Email = string(f.Data)
		case 4:
			u.CreatedAt, err = protoTime(f.Data)
		case 5:
			u.UpdatedAt, err = protoTime(f.Data)
		default:
			err = fmt.Errorf("%w: a user with field %d", protowire.ErrMessage, f.Number)
		}
		return err
	})
	return u, err
}

// protoTime parses the message google.protobuf.Timestamp.
func protoTime(m []byte) (time.Time, error) {
	var seconds, nanos int64
	err := protowire.Walk(m, func(f protowire.Field) error {
		if f.Number == 1 {
			seconds = int64(f.N)
		} else {
			nanos = int64(f.N)
		}
		return nil
	})
	return time.Unix(seconds, nanos).UTC(), err
}

// protoPage parses the message ListUsersResponse. It returns an error for unknown fields.
func protoPage(m []byte) (p users.Page, err error) {
	err = protowire.Walk(m, func(f protowire.Field) error {
		switch f.Number {
		case 1:
			u, err := protoUser(f.Data)
			p.Users = append(p.Users, u)
			return err
		case 2:
			p.Total = int64(f.N)
		case 3:
			p.Page = int(f.N)
		case 4:
			p.Limit = int(f.N)
		default:
			return fmt.Errorf("%w: a page with field %d", protowire.ErrMessage, f.Number)
		}
		return nil
	})
	return p, err
}

// quotedInt is an integer in JSON that may be in quotes, as protojson writes numbers of 64 bits.
type quotedInt int64

// UnmarshalJSON parses an integer with or without quotes.
func (w *quotedInt) UnmarshalJSON(text []byte) error {
	if n := len(text); n > 2 && text[0] == '"' && text[n-1] == '"' {
		text = text[1 : n-1]
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	*w = quotedInt(n)
	return err
}

// jsonShape is a user in JSON, with the names of package users or of protojson.
type jsonShape struct {
	ID        quotedInt `json:"id"`
	Name      string    `json:"name"`
	Email     string    `json:"email"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Created   time.Time `json:"createdAt"`
	Updated   time.Time `json:"updatedAt"`
}

func (j jsonShape) toUser() users.User {
	if j.CreatedAt.IsZero() {
		j.CreatedAt, j.UpdatedAt = j.Created, j.Updated
	}
	return users.User{ID: int64(j.ID), Name: j.Name, Email: j.Email, CreatedAt: j.CreatedAt, UpdatedAt: j.UpdatedAt}
}

func jsonUser(text []byte) (users.User, error) {
	var j jsonShape
	err := json.Unmarshal(text, &j)
	return j.toUser(), err
}

func jsonPage(text []byte) (users.Page, error) {
	var j struct {
		Users []jsonShape `json:"users"`
		Total quotedInt   `json:"total"`
		Page  int         `json:"page"`
		Limit int         `json:"limit"`
	}
	if err := json.Unmarshal(text, &j); err != nil {
		return users.Page{}, err
	}
	p := users.Page{Total: int64(j.Total), Page: j.Page, Limit: j.Limit}
	for _, u := range j.Users {
		p.Users = append(p.Users, u.toUser())
	}
	return p, nil
}
