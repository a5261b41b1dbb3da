package api

import (
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/internal/protowire"
)

// This file encodes and decodes the messages of apps/users/proto without generated code
// (protobuf.dev/programming-guides/encoding). Numbers of fields are those in users.proto.

// parseUserRequest decodes a request about one user: its id and, for an update, the draft.
func parseUserRequest(m []byte) (id int64, d users.Draft, err error) {
	err = protowire.Walk(m, func(f protowire.Field) error {
		switch f.Number {
		case 1:
			id = int64(f.N)
		case 2:
			d.Name = string(f.Data)
		case 3:
			d.Email = string(f.Data)
		}
		return nil
	})
	return id, d, err
}

// parseDraftMessage decodes a CreateUserRequest.
func parseDraftMessage(m []byte) (d users.Draft, err error) {
	err = protowire.Walk(m, func(f protowire.Field) error {
		switch f.Number {
		case 1:
			d.Name = string(f.Data)
		case 2:
			d.Email = string(f.Data)
		}
		return nil
	})
	return d, err
}

// parseQueryMessage decodes a ListUsersRequest.
func parseQueryMessage(m []byte) (q users.Query, err error) {
	err = protowire.Walk(m, func(f protowire.Field) error {
		switch f.Number {
		case 1:
			q.Text = string(f.Data)
		case 2:
			q.Page = int(int32(f.N))
		case 3:
			q.Limit = int(int32(f.N))
		}
		return nil
	})
	return q, err
}

func appendTime(b []byte, field int, t time.Time) []byte {
	var buf [24]byte // enough for a Timestamp
	return protowire.AppendBytes(b, field, protowire.AppendNumber(protowire.AppendNumber(buf[:0], 1, t.Unix()), 2, int64(t.Nanosecond())))
}

func appendUserMessage(b []byte, u users.User) []byte {
	b = protowire.AppendString(protowire.AppendString(protowire.AppendNumber(b, 1, u.ID), 2, u.Name), 3, u.Email)
	return appendTime(appendTime(b, 4, u.CreatedAt), 5, u.UpdatedAt)
}

// appendPage appends a ListUsersResponse.
func appendPage(b []byte, p users.Page) []byte {
	var buf [512]byte // enough for most users
	for _, u := range p.Users {
		b = protowire.AppendBytes(b, 1, appendUserMessage(buf[:0], u))
	}
	return protowire.AppendNumber(protowire.AppendNumber(protowire.AppendNumber(b, 2, p.Total), 3, int64(p.Page)), 4, int64(p.Limit))
}
