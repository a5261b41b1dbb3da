package userswire_test

import (
	"errors"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/internal/protowire"
	"github.com/tarebench/tare/internal/userswire"
)

func appendTime(to []byte, field int, t time.Time) []byte {
	return protowire.AppendBytes(to, field, protowire.AppendNumber(protowire.AppendNumber(nil, 1, t.Unix()), 2, int64(t.Nanosecond())))
}

func TestUnknownFields(t *testing.T) {
	made := time.Unix(1, 2).UTC()
	m := protowire.AppendString(protowire.AppendNumber(nil, 1, 7), 2, "Ada")
	m = protowire.AppendNumber(appendTime(m, 4, made), 6, 1)
	noTime := time.Unix(0, 0).UTC()
	want := users.User{ID: 7, Name: "Ada", CreatedAt: made, UpdatedAt: noTime}
	if got, err := (userswire.Decoder{NoTime: noTime}).User(m); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	page := protowire.AppendNumber(protowire.AppendBytes(nil, 1, m[:len(m)-2]), 5, 1)
	if got, err := (userswire.Decoder{}).Page(page); err != nil || len(got.Users) != 1 || got.Users[0].ID != 7 {
		t.Errorf("got %+v, %v", got, err)
	}
	strict := userswire.Decoder{Strict: true}
	if _, err := strict.User(m); !errors.Is(err, protowire.ErrMessage) {
		t.Errorf("a user with field 6: %v", err)
	}
	if _, err := strict.Page(page); !errors.Is(err, protowire.ErrMessage) {
		t.Errorf("a page with field 5: %v", err)
	}
}
