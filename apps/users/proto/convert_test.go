package proto_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	protobuf "google.golang.org/protobuf/proto"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/proto"
)

// over sends a message over the wire.
func over[M protobuf.Message](t *testing.T, m, empty M) M {
	t.Helper()
	b, err := protobuf.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := protobuf.Unmarshal(b, empty); err != nil {
		t.Fatal(err)
	}
	return empty
}

// TestRoundTrip: what is sent arrives.
func TestRoundTrip(t *testing.T) {
	at := time.Date(2024, 1, 1, 12, 0, 0, 123456000, time.UTC)
	u := users.User{ID: math.MaxInt64, Name: "Zoë 名前", Email: "z@example.com", CreatedAt: at, UpdatedAt: at.Add(time.Microsecond)}
	if got := proto.ToUser(over(t, proto.FromUser(u), new(proto.User))); got != u {
		t.Errorf("%+v, want %+v", got, u)
	}
	for _, p := range []users.Page{{Users: []users.User{}, Page: 1, Limit: 10}, {Users: []users.User{u, {ID: 1, CreatedAt: at, UpdatedAt: at}}, Total: math.MaxInt64, Page: 3, Limit: 100}} {
		if got := proto.ToPage(over(t, proto.FromPage(p), new(proto.ListUsersResponse))); !reflect.DeepEqual(got, p) {
			t.Errorf("%+v, want %+v", got, p)
		}
	}
	for _, q := range []users.Query{{}, {Text: "é%_", Page: -1, Limit: 1000}} {
		if got := proto.ToQuery(over(t, proto.FromQuery(q), new(proto.ListUsersRequest))); got != q {
			t.Errorf("%+v, want %+v", got, q)
		}
	}
}

// TestNoRoom: a number that is too large stays large, and the other way round.
func TestNoRoom(t *testing.T) {
	m := proto.FromQuery(users.Query{Page: math.MaxInt, Limit: math.MinInt})
	if m.GetPage() != math.MaxInt32 || m.GetLimit() != math.MinInt32 {
		t.Error(m)
	}
}

// TestService: the descriptor holds all methods, for reflection, and nothing that is not linked.
func TestService(t *testing.T) {
	s := proto.File_users_proto.Services().ByName("UserService")
	if s == nil || s.FullName() != "tare.users.v1.UserService" || s.Methods().Len() != 5 {
		t.Fatal(s)
	}
	for i := range proto.File_users_proto.Imports().Len() {
		if f := proto.File_users_proto.Imports().Get(i); f.IsPlaceholder() {
			t.Errorf("%s is not linked", f.Path())
		}
	}
}
