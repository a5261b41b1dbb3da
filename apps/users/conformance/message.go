package conformance

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/internal/protowire"
	"github.com/tarebench/tare/internal/userswire"
)

// message is a request of proto/users.proto without generated code, fields numbered from 1. A value is an
// int64 or a string; zero is omitted.
type message []field

type field struct {
	name  string
	value any
}

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

// newDecoder returns the decoder of responses, which rejects unknown fields.
func newDecoder() userswire.Decoder { return userswire.Decoder{Strict: true} }

// quotedInt is a JSON integer, perhaps in quotes as protojson writes 64 bits.
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

// jsonUser has the field names of package users or of protojson.
type jsonUser struct {
	ID        quotedInt `json:"id"`
	Name      string    `json:"name"`
	Email     string    `json:"email"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Created   time.Time `json:"createdAt"`
	Updated   time.Time `json:"updatedAt"`
}

func (j jsonUser) toUser() users.User {
	if j.CreatedAt.IsZero() {
		j.CreatedAt, j.UpdatedAt = j.Created, j.Updated
	}
	return users.User{ID: int64(j.ID), Name: j.Name, Email: j.Email, CreatedAt: j.CreatedAt, UpdatedAt: j.UpdatedAt}
}

func parseJSONUser(text []byte) (users.User, error) {
	var j jsonUser
	err := json.Unmarshal(text, &j)
	return j.toUser(), err
}

func parseJSONPage(text []byte) (users.Page, error) {
	var j struct {
		Users []jsonUser `json:"users"`
		Total quotedInt  `json:"total"`
		Page  int        `json:"page"`
		Limit int        `json:"limit"`
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
