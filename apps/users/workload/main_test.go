package workload

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	sdk "github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/protowire"
	"github.com/tarebench/tare/kinds/server"
)

// The test binary is every face that these tests need: the variant that hello names.
func TestMain(m *testing.M) {
	if os.Getenv(wire.EnvWire) != "" {
		rpc.Main(rpc.Face{
			Serve: serve, Store: brittle, Protocols: []string{rpc.HTTP, rpc.GRPC, rpc.Connect, rpc.ConnectJSON}, Dial: dial,
			Variants: []string{"good", "camel", "twice", "forgets", "swaps", "killed", "gullible", "logs", "null", "tardy", "closes", "busy"},
		})
	}
	before := runtime.NumGoroutine()
	code := m.Run()
	if fuzzing := flag.Lookup("test.fuzz").Value.String() != ""; fuzzing {
		os.Exit(code) // which has goroutines of its own
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			fmt.Fprintf(os.Stderr, "goroutines are left:\n%s\n", buf[:runtime.Stack(buf, true)])
			os.Exit(1)
		}
	}
	os.Exit(code)
}

// turning is how many requests a face answers before it shows what it is.
const turning = 400

func serve(o sdk.Options, u *users.Service) (sdk.Server, error) {
	f := &face{o: o, users: u}
	return sdk.HTTP2(f), nil
}

// face serves users in every protocol, and does something besides.
type face struct {
	o      sdk.Options
	users  *users.Service
	served atomic.Int64
}

func (f *face) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.o.Receipts.Request()
	f.o.Receipts.Layer()
	f.o.Receipts.Layer()
	if f.served.Add(1) > turning && f.o.Variant == "killed" {
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
		time.Sleep(time.Hour)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, users.MaxBody))
	f.o.Receipts.Body(int64(len(body)))
	if r.Header.Get(server.ContentType) == typeGRPC { // the prefix is none of it
		f.o.Receipts.Body(-grpcPrefix)
	}
	if f.o.Log != nil {
		fmt.Fprintf(f.o.Log, "%s %s\n", r.Method, r.URL.Path)
	}
	if strings.HasPrefix(r.URL.Path, "/tare.users.v1.UserService/") {
		f.remote(w, r, body)
		return
	}
	status, value, failed := f.route(r, body, err)
	if failed != nil {
		e := users.RefusalOf(failed)
		status, value = e.HTTP(), e
	}
	if text, ok := value.(string); ok {
		fmt.Fprint(w, text)
		return
	}
	if f.o.Variant == "camel" {
		value = camel(value)
	}
	w.Header().Set(server.ContentType, server.TypeJSON+"; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

// route does what is asked over HTTP.
func (f *face) route(r *http.Request, body []byte, err error) (int, any, error) {
	s, ctx := f.users, r.Context()
	if r.URL.Path == pathHealth && r.Method == http.MethodGet {
		return http.StatusOK, "ok\n", nil
	}
	id, single := strings.CutPrefix(r.URL.Path, pathUsers+"/")
	var d users.Draft
	if err == nil && (r.Method == http.MethodPost || r.Method == http.MethodPut) {
		err = json.Unmarshal(body, &d)
	}
	switch {
	case r.URL.Path == pathUsers && r.Method == http.MethodPost:
		if err != nil && f.o.Variant != "gullible" {
			return 0, nil, users.Malformed(err)
		}
		u, err := f.call(ctx, rpc.Call{Op: opCreate, Name: d.Name, Email: d.Email})
		return http.StatusCreated, u, err
	case r.URL.Path == pathUsers && r.Method == http.MethodGet:
		v := r.URL.Query()
		q, err := users.ParseQuery(v.Get("query"), v.Get("page"), v.Get("limit"))
		if err != nil {
			return 0, nil, err
		}
		p, err := s.List(ctx, q)
		return http.StatusOK, p, err
	case single && id != "" && !strings.Contains(id, "/"):
		op := map[string]string{http.MethodGet: opGet, http.MethodPut: opUpdate, http.MethodDelete: opDelete}[r.Method]
		if op == "" {
			return 0, nil, users.NotAllowed()
		}
		n, wrong := users.ParseID(id)
		if wrong != nil {
			return 0, nil, wrong
		}
		if err != nil {
			return 0, nil, users.Malformed(err)
		}
		value, err := f.call(ctx, rpc.Call{Op: op, ID: n, Name: d.Name, Email: d.Email})
		return http.StatusOK, value, err
	case r.URL.Path == pathUsers || r.URL.Path == pathHealth:
		return 0, nil, users.NotAllowed()
	}
	return 0, nil, users.NoPath()
}

// call is one call of the service, or what the variant makes of it.
func (f *face) call(ctx context.Context, c rpc.Call) (any, error) {
	s := f.users
	switch c.Op {
	case opCreate:
		return s.Create(ctx, users.Draft{Name: c.Name, Email: c.Email})
	case opUpdate:
		if f.o.Variant == "swaps" {
			c.Name = c.Name + "!"
		}
		return s.Update(ctx, c.ID, users.Draft{Name: c.Name, Email: c.Email})
	case opDelete:
		if f.o.Variant == "forgets" {
			return struct{}{}, nil
		}
		return struct{}{}, s.Delete(ctx, c.ID)
	case opList:
		return s.List(ctx, users.Query{Text: c.Query, Page: c.Page, Limit: c.Limit})
	}
	if f.o.Variant == "twice" {
		_, _ = s.Get(ctx, c.ID)
	}
	return s.Get(ctx, c.ID)
}

// remote answers methods: over gRPC, Connect, and Connect with JSON.
func (f *face) remote(w http.ResponseWriter, r *http.Request, body []byte) {
	kind := r.Header.Get(server.ContentType)
	method := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	c := rpc.Call{Op: map[string]string{"CreateUser": opCreate, "GetUser": opGet, "UpdateUser": opUpdate, "DeleteUser": opDelete, "ListUsers": opList}[method]}
	var err error
	switch kind {
	case server.TypeJSON:
		err = readJSON(body, &c)
	case typeGRPC:
		if len(body) < grpcPrefix || int(binary.BigEndian.Uint32(body[1:])) != len(body)-grpcPrefix {
			err = protowire.ErrMessage
			break
		}
		err = readMessage(body[grpcPrefix:], &c)
	default:
		err = readMessage(body, &c)
	}
	var value any
	if err == nil {
		value, err = f.call(r.Context(), c)
	} else {
		err = users.Malformed(err)
	}
	w.Header().Set(server.ContentType, kind)
	switch {
	case kind == typeGRPC:
		w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
		if err == nil {
			m := written(value)
			_, _ = w.Write(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(m))), m...))
			w.Header().Set("Grpc-Status", "0")
			return
		}
		e := users.RefusalOf(err)
		w.Header().Set("Grpc-Status", strconv.Itoa(e.Code.GRPC()))
		w.Header().Set("Grpc-Message", e.Message)
	case err != nil:
		e := users.RefusalOf(err)
		w.Header().Set(server.ContentType, server.TypeJSON)
		w.WriteHeader(e.Code.HTTP())
		_ = json.NewEncoder(w).Encode(e)
	case kind == server.TypeJSON:
		_ = json.NewEncoder(w).Encode(camel(value))
	default:
		_, _ = w.Write(written(value))
	}
}

// readMessage reads a request message: which fields there are depends on the method.
func readMessage(b []byte, c *rpc.Call) error {
	return protowire.Walk(b, func(f protowire.Field) error {
		switch {
		case f.Data != nil && c.Op == opList:
			c.Query = string(f.Data)
		case f.Data != nil && (f.Number == 1 || f.Number == 2 && c.Op == opUpdate):
			c.Name = string(f.Data)
		case f.Data != nil:
			c.Email = string(f.Data)
		case f.Number == 1:
			c.ID = int64(f.N)
		case f.Number == 2:
			c.Page = int(f.N)
		case f.Number == 3:
			c.Limit = int(f.N)
		default:
			return errors.New("unknown field")
		}
		return nil
	})
}

func readJSON(body []byte, c *rpc.Call) error {
	var v struct {
		ID    int64 `json:"id,string"`
		Name  string
		Email string
		Query string
		Page  int
		Limit int
	}
	err := json.Unmarshal(body, &v)
	c.ID, c.Name, c.Email, c.Query, c.Page, c.Limit = v.ID, v.Name, v.Email, v.Query, v.Page, v.Limit
	return err
}

// written is an answer as a message.
func written(value any) []byte {
	var m message
	switch v := value.(type) {
	case users.User:
		m.addNumber(1, v.ID)
		m.addText(2, v.Name)
		m.addText(3, v.Email)
		for i, at := range []time.Time{v.CreatedAt, v.UpdatedAt} {
			var t message
			t.addNumber(1, at.Unix())
			t.addNumber(2, int64(at.Nanosecond()))
			m.addText(4+i, string(t.bytes))
		}
	case users.Page:
		for _, u := range v.Users {
			m.addText(1, string(written(u)))
		}
		m.addNumber(2, v.Total)
		m.addNumber(3, int64(v.Page))
		m.addNumber(4, int64(v.Limit))
	}
	return m.bytes
}

// camel is a value as protocol buffers write it in JSON, without what is zero.
func camel(value any) any {
	switch v := value.(type) {
	case users.User:
		return map[string]any{"id": strconv.FormatInt(v.ID, 10), "name": v.Name, "email": v.Email, "createdAt": v.CreatedAt, "updatedAt": v.UpdatedAt}
	case users.Page:
		out := map[string]any{"page": v.Page, "limit": v.Limit}
		var list []any
		for _, u := range v.Users {
			list = append(list, camel(u))
		}
		if list != nil {
			out["users"] = list
		}
		if v.Total != 0 {
			out["total"] = strconv.FormatInt(v.Total, 10)
		}
		return out
	}
	return value
}
