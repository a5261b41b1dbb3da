package workload

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/server"
	"github.com/tarebench/tare/load"
)

func TestDialects(t *testing.T) {
	for _, c := range []struct {
		speaks   []string
		set      map[string]string
		role     tare.Role
		name     string
		protocol load.Protocol
		perConn  int
		client   string // its policy
	}{
		{nil, nil, "", rpc.HTTP, load.HTTP1, 0, ""},
		{[]string{rpc.GRPC}, nil, "", rpc.GRPC, load.GRPC, 0, ""},
		{protocols(), map[string]string{setHTTP2: "on"}, "", rpc.HTTP, load.H2C, 0, ""},
		{protocols(), map[string]string{setProtocol: rpc.Connect, setPolicy: rpc.Fresh}, "", rpc.Connect, load.HTTP1, 1, ""},
		{protocols(), map[string]string{setProtocol: rpc.ConnectJSON, setDriver: driverClient}, "", rpc.ConnectJSON, load.HTTP1, 0, rpc.Pool},
		{protocols(), map[string]string{setProtocol: rpc.GRPC, setDriver: driverClient}, "", rpc.GRPC, load.GRPC, 0, rpc.One},
		{protocols(), map[string]string{setProtocol: rpc.GRPC, setDriver: driverClient, setPolicy: rpc.Fresh}, "", rpc.GRPC, load.GRPC, 1, rpc.Fresh},
		{[]string{rpc.HTTP}, map[string]string{setProtocol: rpc.GRPC, setDriver: driverClient}, tare.RoleNull, rpc.HTTP, load.HTTP1, 0, ""},
	} {
		d, err := newDialect(tare.Contender{Role: c.role, Declared: tare.Declared{Protocols: c.speaks}}, c.set)
		if err != nil || d.Name != c.name || d.Protocol != c.protocol || d.PerConn != c.perConn || d.Client[setPolicy] != c.client || (d.Client != nil) != (c.client != "") {
			t.Errorf("%v %v: %+v, %v", c.speaks, c.set, d, err)
		}
	}
	for want, set := range map[string]map[string]string{
		"speaks http":                  {setProtocol: rpc.GRPC},
		`"soap" is none of`:            {setProtocol: "soap"},
		`"yes" is none of on, off`:     {setHTTP2: "yes"},
		`"many" is none of pool, one`:  {setPolicy: "many"},
		`"me" is none of engine`:       {setDriver: "me"},
		"one request in flight":        {setPolicy: rpc.One, setHTTP2: "on"},
		"one connection for all takes": {setPolicy: rpc.One, setDriver: driverClient},
	} {
		if _, err := newDialect(tare.Contender{Declared: tare.Declared{Protocols: []string{rpc.HTTP}}}, set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", set, err, want)
		}
	}
	if _, err := newDialect(tare.Contender{Declared: tare.Declared{Protocols: protocols()}}, map[string]string{setProtocol: rpc.GRPC, setHTTP2: "off"}); err == nil {
		t.Error("gRPC without HTTP/2")
	}
}

func TestSettings(t *testing.T) {
	dir := t.TempDir()
	w := wire.Workload{ID: "w", N: 50, Input: dir + "/requests.ndjson"}
	set := map[string]string{"store": "sqlite"}
	if err := applySettings(w, nil, set, dir); err != nil || set["users"] != "50" || !strings.HasPrefix(set["store"], "sqlite:"+dir) || !strings.HasSuffix(set["store"], "?template="+dir+"/stores") {
		t.Errorf("%v, %v", set, err)
	}
	again := map[string]string{"store": "sqlite", "users": "50"}
	if err := applySettings(w, nil, again, dir); err != nil || again["store"] == set["store"] {
		t.Errorf("a file is used twice: %v, %v", again, err)
	}
	t.Setenv(EnvPostgres, "postgres://somebody@127.0.0.1:5432/db")
	set = map[string]string{"store": "postgres"}
	if err := applySettings(wire.Workload{}, nil, set, dir); err != nil || set["store"] != "postgres:postgres://somebody@127.0.0.1:5432/db" || set["users"] != "1000" {
		t.Errorf("%v, %v", set, err)
	}
	if err := applySettings(w, nil, map[string]string{"users": "7"}, dir); err == nil || !strings.Contains(err.Error(), "n: 50") {
		t.Errorf("seven users of fifty: %v", err)
	}
	if err := applySettings(w, nil, map[string]string{"store": "sqlite:users.db"}, dir); err == nil || !strings.HasPrefix(err.Error(), "store: sqlite:users.db; ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a file that would be kept: %v", err)
	}
}

// Two answers are the same where they mean the same.
func TestSame(t *testing.T) {
	const want = `{"id":300000005,"name":"Ada King","email":"a@b.c","created_at":"2024-01-01T00:00:05Z","updated_at":"2000-01-01T00:00:00Z"}`
	for got, is := range map[string]bool{
		`{"id":300000005,"name":"Ada King","email":"a@b.c","created_at":"2024-01-01T00:00:05Z","updated_at":"2026-11-22T08:00:00.123456Z"}`:      true,
		`{"id":"300000005","name":"Ada King","email":"a@b.c","createdAt":"2024-01-01T01:00:05+01:00","updatedAt":"2026-11-22T08:00:00Z"}`:        true,
		`{"id":300000006,"name":"Ada King","email":"a@b.c","created_at":"2024-01-01T00:00:05Z","updated_at":"2026-11-22T08:00:00Z"}`:             false,
		`{"id":300000005,"name":"Ada","email":"a@b.c","created_at":"2024-01-01T00:00:05Z","updated_at":"2026-11-22T08:00:00Z"}`:                  false,
		`{"id":300000005,"name":"Ada King","email":"a@b.c","created_at":"2024-01-01T00:00:06Z","updated_at":"2026-11-22T08:00:00Z"}`:             false,
		`{"id":300000005,"name":"Ada King","email":"a@b.c","created_at":"2024-01-01T00:00:05Z","updated_at":"2000-01-01T00:00:00Z"}`:             false,
		`{"id":300000005,"name":"Ada King","email":"a@b.c","created_at":"2024-01-01T00:00:05Z","updated_at":"2026-11-22T08:00:00.123456789Z"}`:   false,
		`{"id":300000005,"name":"Ada King","email":"a@b.c","created_at":"2024-01-01T00:00:05Z","updated_at":"2026-11-22T08:00:00Z","more":true}`: false,
		`{"id":300000005,"name":"Ada King","email":"a@b.c","created_at":"2024-01-01T00:00:05Z"}`:                                                 false,
		`{}`: false, ``: false, `[]`: false, `null`: false,
	} {
		if isSameBody([]byte(want), []byte(got)) != is {
			t.Errorf("%s: want %v", got, is)
		}
	}
	const nobody = `{"users":[],"total":0,"page":1,"limit":10}`
	for got, is := range map[string]bool{
		`{"page":1,"limit":10}`: true, `{"users":null,"total":"0","page":1,"limit":10}`: true, nobody: true,
		`{"users":[],"total":1,"page":1,"limit":10}`: false, `{"users":[]}`: false, `{"users":{},"page":1,"limit":10}`: false, `{"users":[{}],"page":1,"limit":10}`: false,
	} {
		if isSameBody([]byte(nobody), []byte(got)) != is {
			t.Errorf("%s: want %v", got, is)
		}
	}
}

func TestRefuses(t *testing.T) {
	want := errorResponse(404, users.NotFound)
	for text, got := range map[string]server.Response{
		"":                  errorResponse(404, users.NotFound),
		`with code "inter`:  errorResponse(404, users.Internal),
		"content type":      {Status: 404, Body: want.Body},
		"is no refusal":     {Status: 404, Header: want.Header, Body: []byte("not found")},
		"without a message": {Status: 404, Header: want.Header, Body: []byte(`{"code":"not_found"}`)},
	} {
		if said := whyNotRefusal(want, got); text == "" && said != "" || !strings.Contains(said, text) {
			t.Errorf("%+v: %q, want %q", got, said, text)
		}
	}
}

// What no right answer can be is seen in the middle of a slice.
func TestSound(t *testing.T) {
	w := wire.Workload{N: 100}
	asked := func(c rpc.Call) server.Request {
		q, err := canonicalRequest(c)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	answer := func(value any) server.Response {
		body, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return server.Response{Status: 200, Body: body}
	}
	u := users.Seeded(5)
	made, changed, page1 := u, u, users.Page{Users: []users.User{users.Seeded(0), users.Seeded(1)}, Total: 2, Page: 1, Limit: 10}
	made.ID, made.Name, made.Email = users.FirstID+100, createCall(3).Name, "n000000007@example.com"
	changed.Name, changed.Email = updateCall(3, u.ID).Name, "w000000007@example.com"
	wrong := users.Page{Users: []users.User{users.Seeded(1), users.Seeded(0)}, Total: 2, Page: 1, Limit: 10}
	for _, c := range []struct {
		call  rpc.Call
		value any
		want  string
	}{
		{getUser(u.ID), u, ""},
		{getUser(u.ID), changed, ""},
		{getUser(u.ID), users.Seeded(6), "requested user 300000005, got 300000006"},
		{getUser(u.ID), users.User{ID: u.ID, Name: "Eve", Email: "eve@example.com", CreatedAt: u.CreatedAt, UpdatedAt: u.UpdatedAt}, "is called"},
		{createCall(3), made, ""},
		{createCall(3), u, "a new user has the id 300000005"},
		{createCall(4), made, "asked for"},
		{updateCall(3, u.ID), changed, ""},
		{updateCall(3, u.ID), u, "asked for"},
		{deleteCall(), struct{}{}, ""},
		{deleteCall(), u, "want {}"},
		{listCall(0), page1, ""},
		{listCall(1), page1, "requested page 2"},
		{listCall(0), wrong, "order of their ids"},
		{listCall(0), u, "is no page"},
		{createCall(3), page1, "is no user"},
	} {
		if said := whyImpossible(w, asked(c.call), answer(c.value)); c.want == "" && said != "" || !strings.Contains(said, c.want) {
			t.Errorf("%+v: %q, want %q", c.call, said, c.want)
		}
	}
}
