// Package userswire decodes the protocol buffer messages of apps/users, a service for users that
// contenders implement. It does without generated code, which would require another module. The
// numbers of fields are those of users.proto.
package userswire

import (
	"fmt"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/internal/protowire"
)

// Decoder decodes messages. The zero value works.
type Decoder struct {
	Strict bool      // an unknown field of a user or a page is an error; otherwise it is ignored
	NoTime time.Time // value for the times that the message of a user does not contain
}

// User decodes the message User.
func (d Decoder) User(m []byte) (users.User, error) {
	u := users.User{CreatedAt: d.NoTime, UpdatedAt: d.NoTime}
	err := protowire.Walk(m, func(f protowire.Field) (err error) {
		switch f.Number {
		case 1:
			u.ID = int64(f.N)
		case 2:
			u.Name = string(f.Data)
		case 3:
			u.Email = string(f.Data)
		case 4:
			u.CreatedAt, err = parseTime(f.Data)
		case 5:
			u.UpdatedAt, err = parseTime(f.Data)
		default:
			err = d.checkUnknown(f, "user")
		}
		return err
	})
	return u, err
}

// Page decodes the message ListUsersResponse.
func (d Decoder) Page(m []byte) (users.Page, error) {
	p := users.Page{Users: []users.User{}}
	err := protowire.Walk(m, func(f protowire.Field) error {
		switch f.Number {
		case 1:
			u, err := d.User(f.Data)
			p.Users = append(p.Users, u)
			return err
		case 2:
			p.Total = int64(f.N)
		case 3:
			p.Page = int(int32(f.N))
		case 4:
			p.Limit = int(int32(f.N))
		default:
			return d.checkUnknown(f, "page")
		}
		return nil
	})
	return p, err
}

// checkUnknown returns an error about the unknown field f if the decoder is strict. noun names the message.
func (d Decoder) checkUnknown(f protowire.Field, noun string) error {
	if d.Strict {
		return fmt.Errorf("%w: a %s with field %d", protowire.ErrMessage, noun, f.Number)
	}
	return nil
}

// parseTime decodes the message google.protobuf.Timestamp.
func parseTime(m []byte) (time.Time, error) {
	var seconds, nanos int64
	err := protowire.Walk(m, func(f protowire.Field) error {
		switch f.Number {
		case 1:
			seconds = int64(f.N)
		case 2:
			nanos = int64(f.N)
		}
		return nil
	})
	return time.Unix(seconds, nanos).UTC(), err
}
