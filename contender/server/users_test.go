package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/wire"
)

// people serves a part of app users: GET /{id} and POST /{name}.
func people(o Options) (Server, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /{id}", func(w http.ResponseWriter, r *http.Request) {
		id, _ := users.ParseID(r.PathValue("id"))
		u, err := o.Users.Get(r.Context(), id)
		fmt.Fprintln(w, o.Variant, u.Name, err)
	})
	mux.HandleFunc("POST /{name}", func(w http.ResponseWriter, r *http.Request) {
		u, err := o.Users.Create(r.Context(), users.Draft{Name: r.PathValue("name"), Email: r.PathValue("name") + "@example.com"})
		fmt.Fprintln(w, u.ID, err)
	})
	return HTTP2(AccessLog(mux, o)), nil
}

func post(t *testing.T, url string) string {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
	r, err := c.Post(url, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestUsersReset: stats have the use-case calls, and after a reset the store is as
// it was and nothing has been called.
func TestUsersReset(t *testing.T) {
	l := visit(t, Apps{AppUsers: people})
	l.do(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol})
	for _, set := range []map[string]string{{SetUsers: "3"}, {SetUsers: "3", SetStore: "linear", SetValidate: "2"}} {
		addr := l.prepareApp(AppUsers, set).Addr
		for range 2 {
			if got := post(t, "http://"+addr+"/Ada"); got != "300000003 <nil>\n" {
				t.Errorf("%v: %q", set, got)
			}
			if got := get(t, "http://"+addr+"/300000002"); !strings.Contains(got, users.Seeded(2).Name+" <nil>") {
				t.Errorf("%v: %q", set, got)
			}
			a := l.do(wire.Request{Op: wire.OpStats, On: "w"})
			if a.Calls == nil || a.Calls.Sum == 0 || a.Calls.Create != 1 || a.Calls.Get != 1 {
				t.Errorf("%v: %+v", set, a.Calls)
			}
			if a := l.do(wire.Request{Op: wire.OpReset, On: "w"}); a.Error != nil {
				t.Fatal(a.Error)
			}
			if a := l.do(wire.Request{Op: wire.OpStats, On: "w"}); *a.Calls != (wire.Calls{}) {
				t.Errorf("%v: %+v", set, a.Calls)
			}
		}
	}
	for _, app := range []string{"tiny"} {
		l := visit(t, Apps{app: plainTiny})
		l.do(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol})
		l.prepare(nil)
		if a := l.do(wire.Request{Op: wire.OpReset, On: "w"}); a.Error == nil || a.Error.Class != "unsupported" {
			t.Errorf("%s: %+v", app, a)
		}
		if a := l.do(wire.Request{Op: wire.OpStats, On: "w"}); a.Calls != nil {
			t.Errorf("%s: %+v", app, a.Calls)
		}
	}
}

// failing is a store that has no room.
type failing struct{ users.Repository }

func (failing) Create(context.Context, users.Draft, time.Time) (users.User, error) {
	return users.User{}, errors.New("disk full")
}

// TestUsersFault: what the store failed with is for the lab, and not for clients.
func TestUsersFault(t *testing.T) {
	h := Host{Apps: Apps{AppUsers: people}, Store: func(ctx context.Context, store string, n int) (users.Repository, error) {
		if store != "sqlite:x" || n != 1000 {
			t.Errorf("asked for %s of %d", store, n)
		}
		r, err := users.Open(ctx, users.MemoryStore, n)
		return failing{r}, err
	}}
	s, err := configured(AppUsers, map[string]string{SetStore: "sqlite:x"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.start(s)
	if err != nil {
		t.Fatal(err)
	}
	if got := post(t, "http://"+r.addr+"/Ada"); !strings.Contains(got, "unavailable") || strings.Contains(got, "disk") {
		t.Errorf("%q", got)
	}
	if c := r.counts(); c.Fault == nil || c.Fault.Error() != "disk full" {
		t.Errorf("%+v", c)
	}
	if err := r.stop(20 * time.Second); err != nil {
		t.Error(err)
	}
}

func TestUsersSettings(t *testing.T) {
	byUser, weighed := config{store: "memory", users: users.Config{Validate: 1}}, config{store: "memory", seeded: 1000, users: users.Config{Validate: 1}}
	for lab, want := range map[bool]config{false: byUser, true: weighed} {
		if c, err := defaults(AppUsers, lab); err != nil || !reflect.DeepEqual(c, want) {
			t.Errorf("%+v, %v", c, err)
		}
	}
	two := alone2(nil)
	for _, tt := range []struct {
		args string
		env  map[string]string
		want config
		err  string
	}{
		{args: "-store linear -users 7 -validate 2 -fail-one 9 -rate-limit 50", want: config{store: "linear", seeded: 7, users: users.Config{Validate: 2, FailOne: 9, Limit: 50}}},
		{args: "-store sqlite:/a:b", env: map[string]string{"TARE_USERS": "3", "TARE_FAIL_ONE": "1"}, want: config{store: "sqlite:/a:b", seeded: 3, users: users.Config{Validate: 1, FailOne: 1}}},
		{args: "-store postgres://u:p@h/db", want: config{store: "postgres://u:p@h/db", users: users.Config{Validate: 1}}},
		{args: "-store oracle:x", err: `-store: "oracle:x" is neither memory`}, {args: "-store sqlite:", err: "neither"}, {args: "-store memory:x", err: "neither"}, {args: "-store postgres", err: "neither"},
		{args: "-users -1", err: `-users: "-1"`}, {args: "-validate 0", err: `-validate: "0"`}, {args: "-fail-one x", err: `-fail-one: "x"`}, {args: "-rate-limit x", err: `-rate-limit: "x"`},
		{args: "-devices 3", err: "flag provided but not defined"},
	} {
		got, err := two.parse(strings.Fields(tt.args), nil, func(key string) string { return tt.env[key] })
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, want %q", tt.args, err, tt.err)
			}
		} else if err != nil || !reflect.DeepEqual(got.config, tt.want) {
			t.Errorf("%s: %+v, %v, want %+v", tt.args, got.config, err, tt.want)
		}
	}
	// A program may have two apps with a setting of one name.
	both := alone{Host{Apps: Apps{AppUsers: people, AppHomelab: plainTiny}}}
	for app, want := range map[string][2]int{AppUsers: {0, 9}, AppHomelab: {9, 0}} {
		s, err := both.parse([]string{"-app", app, "-rate-limit", "9"}, nil, func(string) string { return "" })
		if got := [2]int{s.config.homelab.Rate, s.config.users.Limit}; err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", app, got, err, want)
		}
	}
}

// alone2 is a program of two faces.
func alone2(store users.Opener) alone {
	return alone{Host{Apps: Apps{AppUsers: people}, Variants: []string{"grpc", "gin", "gin-fast"}, Together: []string{"gin", "grpc"}, Store: store}}
}

func TestParseFaces(t *testing.T) {
	at := func(list ...string) (faces []facing) {
		for i := 0; i < len(list); i += 2 {
			faces = append(faces, facing{list[i], list[i+1]})
		}
		return faces
	}
	for _, tt := range []struct {
		args, env string
		want      []facing
		err       string
	}{
		{args: "", want: at("gin", "127.0.0.1:8080", "grpc", "127.0.0.1:8081")},
		{args: "-addr :9000", env: "grpc,gin-fast", want: at("grpc", ":9000", "gin-fast", ":9001")},
		{args: "-addr 127.0.0.1:0", want: at("gin", "127.0.0.1:0", "grpc", "127.0.0.1:0")},
		{args: "-face grpc=127.0.0.1:9090,gin=127.0.0.1:8080", env: "gin", want: at("grpc", "127.0.0.1:9090", "gin", "127.0.0.1:8080")},
		{args: "-face grpc=[::1]:9090,gin,gin-fast", want: at("grpc", "[::1]:9090", "gin", "127.0.0.1:8080", "gin-fast", "127.0.0.1:8081")},
		{args: "-variant gin-fast -face grpc"},
		{args: "-face soap", err: `-face: unknown face "soap"; known: grpc, gin, gin-fast`},
		{args: "-face grpc,grpc", err: "-face: grpc is there twice"},
		{args: "-face=", err: `unknown face ""`, env: "soap"},
		{args: "-addr here", err: "-addr: "}, {args: "-addr 127.0.0.1:http", err: `-addr: "http" is no port`},
		{args: "-variant soap", err: `unknown variant "soap"`},
	} {
		s, err := alone2(nil).parse(strings.Fields(tt.args), nil, func(key string) string { return map[string]string{EnvFace: tt.env}[key] })
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, want %q", tt.args, err, tt.err)
			}
		} else if err != nil || !reflect.DeepEqual(s.faces, tt.want) {
			t.Errorf("%s: %v, %v, want %v", tt.args, s.faces, err, tt.want)
		}
	}
}

// TestFacesShareAStore: faces that are served together keep the same users, and end
// together.
func TestFacesShareAStore(t *testing.T) {
	a := alone2(func(context.Context, string, int) (users.Repository, error) { return nil, errors.New("no database") })
	s, err := a.parse([]string{"-addr", "127.0.0.1:0"}, nil, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	s.stdout = os.Stdout
	ctx, cancel := context.WithCancel(context.Background())
	said, done := make(lines, 9), make(chan error, 1)
	go func() { done <- a.serve(ctx, s, said) }()
	if line := <-said; !strings.Contains(line, "gone when this ends; -store sqlite:FILE keeps them\n") {
		t.Errorf("%q", line)
	}
	at := map[string]string{}
	for _, name := range []string{"gin", "grpc"} {
		line := <-said
		_, url, ok := strings.Cut(line, ": serving users by "+name+" at ")
		if !ok {
			t.Fatalf("%q", line)
		}
		at[name] = strings.TrimSpace(url)
	}
	if got := post(t, at["grpc"]+"/Ada"); got != "300000000 <nil>\n" {
		t.Errorf("%q", got)
	}
	if got := get(t, at["gin"]+"/300000000"); got != "200 gin Ada <nil>\n" {
		t.Errorf("%q", got)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	for name, url := range at {
		if conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://")); err == nil {
			conn.Close()
			t.Errorf("%s is still there", name)
		}
	}
	var stderr bytes.Buffer
	if code := a.main([]string{"-addr", "127.0.0.1:0", "-store", "sqlite:x"}, os.Stdout, &stderr); code != 1 || stderr.String() != "users: no database\n" {
		t.Errorf("code %d: %q", code, stderr.String())
	}
}

// TestFacesFallTogether: when one face cannot be served none is.
func TestFacesFallTogether(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var stderr bytes.Buffer
	if code := alone2(nil).main([]string{"-face", "gin=127.0.0.1:0,grpc=" + l.Addr().String()}, os.Stdout, &stderr); code != 1 || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("a taken address: code %d: %s", code, stderr.String())
	}
	quits := alone{Host{Apps: Apps{AppUsers: func(o Options) (Server, error) {
		if o.Variant == "grpc" {
			return dummy{serve: func(net.Listener) error { return errors.New("out of order") }}, nil
		}
		return people(o)
	}}, Variants: []string{"grpc", "gin"}, Together: []string{"gin", "grpc"}}}
	stderr.Reset()
	if code := quits.main([]string{"-addr", "127.0.0.1:0"}, os.Stdout, &stderr); code != 1 || !strings.Contains(stderr.String(), "serving ended: out of order") {
		t.Errorf("one that quits: code %d: %s", code, stderr.String())
	}
}

// TestAnswersHTTP2: a server of HTTP/2 alone is ready when it has said its
// settings.
func TestAnswersHTTP2(t *testing.T) {
	for says, want := range map[string]string{"\x00\x00\x00\x04\x00\x00\x00\x00\x00": "", "HTTP/1.1 400 Bad Request\r\n\r\n": "no HTTP/2", "\x00": "no HTTP/2", "": "does not answer"} {
		hold := make(chan struct{})
		h := Host{Apps: Apps{"tiny": func(Options) (Server, error) {
			return dummy{serve: func(l net.Listener) error {
				conn, err := l.Accept()
				if err != nil {
					return err
				}
				_, _ = io.ReadFull(conn, make([]byte, 24+9))
				io.WriteString(conn, says)
				conn.Close()
				<-hold
				return nil
			}}, nil
		}}, HTTP2: func(string) bool { return true }}
		r, err := h.start(setup{app: "tiny", addr: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.answers(10 * time.Second); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", says, err, want)
		}
		close(hold)
		if err := r.stop(10 * time.Second); err != nil {
			t.Error(err)
		}
	}
}
