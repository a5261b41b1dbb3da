package conformance

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/internal/protowire"
)

// slips are what is wrong with an otherwise sound face, which speaks all protocols.
type slips struct {
	options func(o *server.Options)
	handler func(next http.Handler) http.Handler
	created int                                  // status over HTTP; zero: 201
	body    int64                                // bytes of a body at most; zero: those of users.MaxBody
	refuse  func(e *users.Error) *users.Error    // what a refusal becomes; nil: no refusal
	user    func(u users.User) users.User        // what a user becomes
	call    func(s *users.Service, c rpc.Call)   // what is done besides
	server  func(s server.Server) server.Server  //
	dial    func(rpc.Target) (rpc.Client, error) //
	client  func(c rpc.Client) rpc.Client        //
	status  func(code int) string                // grpc-status
	logs    func(next http.Handler) http.Handler // in place of the access log
	layers  func(next http.Handler, o server.Options) http.Handler
}

func (f slips) face() rpc.Face {
	return rpc.Face{Protocols: []string{rpc.HTTP, rpc.GRPC, rpc.Connect, rpc.ConnectJSON}, Serve: f.serve, Dial: f.dials}
}

func (f slips) main() { rpc.Main(f.face()) }

func (f slips) dials(t rpc.Target) (rpc.Client, error) {
	if f.dial != nil {
		return f.dial(t)
	}
	client := func() (rpc.Client, error) {
		var c rpc.Client = dialPlain(t.Protocol, t.Addr, nil, false, rpcLimit)
		if f.client != nil {
			c = f.client(c)
		}
		return c, nil
	}
	if t.Policy == rpc.Pool && !t.HTTP2 {
		return client()
	}
	return rpc.ByPolicy(t, client)
}

func (f slips) serve(o server.Options, u *users.Service) (server.Server, error) {
	if f.options != nil {
		f.options(&o)
	}
	s := sound{slips: f, o: o, users: u}
	mux := http.NewServeMux()
	for pattern, op := range map[string]string{"POST /v1/users": rpc.OpCreate, "GET /v1/users/{id}": rpc.OpGet, "PUT /v1/users/{id}": rpc.OpUpdate, "DELETE /v1/users/{id}": rpc.OpDelete, "GET /v1/users": rpc.OpList} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.http(w, r, op) })
	}
	for method, op := range map[string]string{"CreateUser": rpc.OpCreate, "GetUser": rpc.OpGet, "UpdateUser": rpc.OpUpdate, "DeleteUser": rpc.OpDelete, "ListUsers": rpc.OpList} {
		mux.HandleFunc("POST "+methodsPath+method, func(w http.ResponseWriter, r *http.Request) { s.message(w, r, op) })
	}
	for _, path := range []string{"/v1/users", "/health", "/v1/users/{id}"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", users.Methods(r.URL.Path))
			s.refuses(w, users.NotAllowed())
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { s.refuses(w, users.NoPath()) })
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("POST /grpc.health.v1.Health/Check", func(w http.ResponseWriter, _ *http.Request) { s.framed(w, []byte{8, 1}, nil) })
	h := s.layered(mux)
	if f.handler != nil {
		h = f.handler(h)
	}
	made := server.HTTP2(h)
	if f.server != nil {
		made = f.server(made)
	}
	return made, nil
}

// sound is the face.
type sound struct {
	slips
	o     server.Options
	users *users.Service
}

// layered puts what is around every call of the service there.
func (s sound) layered(next http.Handler) http.Handler {
	if s.layers != nil {
		return s.layers(next, s.o)
	}
	logged := server.AccessLog(next, server.Options{Log: s.o.Log, Receipts: &server.Receipts{}})
	if s.logs != nil && s.o.Log != nil {
		logged = s.logs(next)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.o.Receipts.Layer()
		s.o.Receipts.Layer()
		w.Header().Set("X-Request-Id", s.users.RequestID(r.Header.Get("X-Request-Id")))
		if s.users.Limited() && !s.users.Allow() && r.URL.Path != "/health" {
			if strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
				s.framed(w, nil, users.Limited())
				return
			}
			s.refuses(w, users.Limited())
			return
		}
		logged.ServeHTTP(w, r)
	})
}

// do makes a call of the service.
func (s sound) do(ctx context.Context, c rpc.Call) (rpc.Outcome, error) {
	if s.call != nil {
		s.call(s.users, c)
	}
	out, err := c.Do(ctx, localClient{s.users})
	var e *users.Error
	if errors.As(err, &e) && s.refuse != nil {
		if e = s.refuse(e); e == nil {
			err = nil
		} else {
			err = e
		}
	}
	if s.user != nil {
		out.User = s.user(out.User)
	}
	return out, err
}

// read reads the body of a request.
func (s sound) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	most := s.body
	if most == 0 {
		most = users.MaxBody
	}
	return io.ReadAll(http.MaxBytesReader(w, r.Body, most))
}

func (s sound) http(w http.ResponseWriter, r *http.Request, op string) {
	s.o.Receipts.Request()
	body, err := s.read(w, r)
	s.o.Receipts.Body(int64(len(body)))
	var d users.Draft
	if err == nil && (op == rpc.OpCreate || op == rpc.OpUpdate) {
		err = json.Unmarshal(body, &d)
	}
	if err != nil {
		s.refuses(w, users.Malformed(err))
		return
	}
	c := rpc.Call{Op: op, Name: d.Name, Email: d.Email}
	if id := r.PathValue("id"); id != "" {
		c.ID, err = users.ParseID(id)
	} else if op == rpc.OpList {
		var q users.Query
		v := r.URL.Query()
		q, err = users.ParseQuery(v.Get("query"), v.Get("page"), v.Get("limit"))
		c.Query, c.Page, c.Limit = q.Text, q.Page, q.Limit
	}
	var out rpc.Outcome
	if err == nil {
		out, err = s.do(r.Context(), c)
	}
	if err != nil {
		s.refuses(w, err)
		return
	}
	status := http.StatusOK
	if op == rpc.OpCreate {
		if status = s.created; status == 0 {
			status = http.StatusCreated
		}
	}
	s.says(w, status, shown(op, out))
}

// shown is what is said of an outcome, as JSON of package users.
func shown(op string, out rpc.Outcome) any {
	switch op {
	case rpc.OpDelete:
		return struct{}{}
	case rpc.OpList:
		return out.Page
	}
	return out.User
}

func (s sound) says(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (s sound) refuses(w http.ResponseWriter, err error) {
	e := users.RefusalOf(err)
	s.says(w, e.HTTP(), e)
}

// message answers over gRPC and Connect.
func (s sound) message(w http.ResponseWriter, r *http.Request, op string) {
	s.o.Receipts.Request()
	body, err := s.read(w, r)
	kind := r.Header.Get("Content-Type")
	grpc := strings.HasPrefix(kind, "application/grpc")
	if grpc && len(body) >= 5 {
		body = body[5:]
	}
	s.o.Receipts.Body(int64(len(body)))
	c := rpc.Call{Op: op}
	if err == nil && kind == "application/json" {
		c, err = callOfJSON(op, body)
	} else if err == nil {
		c, err = callOfProto(op, body)
	}
	if err != nil {
		s.refuses(w, users.Malformed(err))
		return
	}
	out, err := s.do(r.Context(), c)
	switch {
	case grpc:
		s.framed(w, protoOf(op, out), err)
	case err != nil:
		s.refuses(w, err)
	case kind == "application/json":
		s.says(w, http.StatusOK, shown(op, out))
	default:
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(protoOf(op, out))
	}
}

// framed answers over gRPC.
func (s sound) framed(w http.ResponseWriter, m []byte, err error) {
	h := w.Header()
	h.Set("Content-Type", "application/grpc")
	code, text := 0, ""
	if err != nil {
		e := users.RefusalOf(err)
		code, text = e.Code.GRPC(), e.Message
	} else {
		_, _ = w.Write(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(m))), m...))
	}
	status := strconv.Itoa(code)
	if s.status != nil {
		status = s.status(code)
	}
	if status != "" {
		h.Set(http.TrailerPrefix+"Grpc-Status", status)
	}
	h.Set(http.TrailerPrefix+"Grpc-Message", url.PathEscape(text))
}

func callOfJSON(op string, body []byte) (rpc.Call, error) {
	var m struct {
		ID                 int64
		Name, Email, Query string
		Page, Limit        int
	}
	err := json.Unmarshal(body, &m)
	return rpc.Call{Op: op, ID: m.ID, Name: m.Name, Email: m.Email, Query: m.Query, Page: m.Page, Limit: m.Limit}, err
}

func callOfProto(op string, body []byte) (rpc.Call, error) {
	c := rpc.Call{Op: op}
	into := map[string][]any{
		rpc.OpCreate: {&c.Name, &c.Email}, rpc.OpUpdate: {&c.ID, &c.Name, &c.Email}, rpc.OpGet: {&c.ID}, rpc.OpDelete: {&c.ID}, rpc.OpList: {&c.Query, &c.Page, &c.Limit},
	}[op]
	return c, protowire.Walk(body, func(f protowire.Field) error {
		switch at := into[f.Number-1].(type) {
		case *string:
			*at = string(f.Data)
		case *int64:
			*at = int64(f.N)
		case *int:
			*at = int(int64(f.N))
		}
		return nil
	})
}

func protoOf(op string, out rpc.Outcome) []byte {
	user := func(u users.User) []byte {
		b := message{{"", u.ID}, {"", u.Name}, {"", u.Email}}.encodeProto()
		for i, at := range []message{{{"", u.CreatedAt.Unix()}, {"", int64(u.CreatedAt.Nanosecond())}}, {{"", u.UpdatedAt.Unix()}, {"", int64(u.UpdatedAt.Nanosecond())}}} {
			m := at.encodeProto()
			b = append(append(b, byte(4+i)<<3|2, byte(len(m))), m...)
		}
		return b
	}
	switch op {
	case rpc.OpDelete:
		return nil
	case rpc.OpList:
		var b []byte
		for _, u := range out.Page.Users {
			m := user(u)
			b = append(binary.AppendUvarint(append(b, 1<<3|2), uint64(len(m))), m...)
		}
		return append(b, message{{"", ""}, {"", out.Page.Total}, {"", int64(out.Page.Page)}, {"", int64(out.Page.Limit)}}.encodeProto()...)
	}
	return user(out.User)
}

// abrupt is a server that does not wait for requests under way.
type abrupt struct{ server.Server }

func (a abrupt) Shutdown(context.Context) error {
	return reflect.ValueOf(a.Server).Elem().FieldByName("Server").Addr().Interface().(*http.Server).Close()
}
