package contendertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/homelab"
	homelabserving "github.com/tarebench/tare/apps/homelab/serving"
	"github.com/tarebench/tare/apps/ingest"
	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/server/nethttp"
	"github.com/tarebench/tare/internal/conformance"
)

// flaws are what is wrong with an otherwise sound server of ingest or homelab.
type flaws struct {
	options func(o *server.Options)
	ingest  *ingest.Config  // of another service than the SDK made; nil: its own
	homelab *homelab.Config // of another house
	decode  func(body []byte, into any) error
	typed   bool // whatever is set
	json    func(j *nethttp.JSON)
	handler func(next http.Handler, o server.Options) http.Handler
	serve   func(http.Handler) server.Server
}

func (f flaws) made(o server.Options, sound func(server.Options) (server.Server, error)) (server.Server, error) {
	if f.options != nil {
		f.options(&o)
	}
	s, err := sound(o)
	if err != nil {
		return nil, err
	}
	// The one exported field of what package server makes of a handler.
	h := reflect.ValueOf(s).Elem().FieldByName("Server").Addr().Interface().(*http.Server).Handler
	if f.handler != nil {
		h = f.handler(h, o)
	}
	if f.serve == nil {
		f.serve = server.HTTPBodies
	}
	return f.serve(h), nil
}

func (f flaws) events(o server.Options, s *ingest.Service) (server.Server, error) {
	if f.ingest != nil {
		var err error
		if s, err = ingest.New(*f.ingest); err != nil {
			return nil, err
		}
	}
	decode := f.decode
	if decode == nil {
		decode = func(body []byte, into any) error { return json.Unmarshal(body, into) }
	}
	return f.made(o, func(o server.Options) (server.Server, error) {
		return nethttp.Ingest(map[ingest.Format]nethttp.Decoder{ingest.JSON: func(s *ingest.Service, body []byte) (ingest.Batch, error) {
			if f.typed {
				var list []ingest.Record
				err := decode(body, &list)
				return ingest.Records(list, json.Marshal), err
			}
			b := s.Batch(json.Marshal)
			return b, decode(body, b.Target())
		}})(o, s)
	})
}

func (f flaws) home(o server.Options, house *homelab.House) (server.Server, error) {
	if f.homelab != nil {
		var err error
		if house, err = homelab.New(*f.homelab, house.Devices()); err != nil {
			return nil, err
		}
	}
	j := nethttp.JSON{Unmarshal: json.Unmarshal, Marshal: json.Marshal}
	if f.json != nil {
		f.json(&j)
	}
	return f.made(o, func(o server.Options) (server.Server, error) { return nethttp.Homelab(j)(o, house) })
}

func (f flaws) main() {
	server.Main(server.Apps{ingestserving.App(f.events), homelabserving.App(f.home)})
}

// header changes the header of each answer before it goes out.
func header(change func(http.Header)) func(http.Handler, server.Options) http.Handler {
	return func(next http.Handler, _ server.Options) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(headed{w, change}, r) })
	}
}

type headed struct {
	http.ResponseWriter
	change func(http.Header)
}

func (h headed) WriteHeader(status int) {
	h.change(h.Header())
	h.ResponseWriter.WriteHeader(status)
}

// hoards keeps 10 MiB for each body in gzip, as a decoder does that is shown it
// before its records were counted.
func hoards(next http.Handler, _ server.Options) http.Handler {
	var mu sync.Mutex
	var hoard [][]byte
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Encoding") == "gzip" {
			mu.Lock()
			hoard = append(hoard, bytes.Repeat([]byte{1}, 10<<20))
			mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}

func appDefects() []defect {
	return []defect{
		{"apps", flaws{}.main, ""},

		{"ingest drops", flaws{ingest: &ingest.Config{}}.main, "0 delivered, acknowledged were"},
		{"ingest takes all", flaws{ingest: &ingest.Config{Limit: 1000}}.main, "status 200, want 400"},
		{"ingest holds all", flaws{ingest: &ingest.Config{MaxBody: 1 << 30}}.main, "status 200, want 413"},
		{"ingest believes", flaws{ingest: &ingest.Config{}}.main, "status 200, want 401"},
		{"ingest guesses", flaws{decode: func(body []byte, into any) error {
			_ = json.Unmarshal(body, into)
			return nil
		}}.main, "want 400"},
		{"ingest loses", flaws{decode: func(body []byte, into any) error {
			return json.Unmarshal(bytes.ReplaceAll(body, []byte(`"gender":"female",`), nil), into)
		}}.main, "other JSON than requested"},
		{"ingest knows its members", flaws{typed: true}.main, "kept is"},
		{"ingest is shy", flaws{options: func(o *server.Options) { o.Receipts = &server.Receipts{} }}.main, "stats: 0 received"},
		{"ingest exaggerates", flaws{handler: func(next http.Handler, o server.Options) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == "POST" {
					o.Receipts.Body(1)
				}
				next.ServeHTTP(w, r)
			})
		}}.main, "received_bytes, sent were"},
		{"ingest hoards", flaws{handler: hoards}.main, " MiB at most, want less than 256"},
		{"ingest mumbles", flaws{handler: header(func(h http.Header) { h.Set("Content-Type", "text/plain") })}.main, "a refusal of type"},
		{"ingest hides", flaws{handler: header(func(h http.Header) { h.Del("Allow") })}.main, "header Allow is not there"},
		{"ingest redirects", flaws{handler: func(next http.Handler, _ server.Options) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/nothing" {
					http.Redirect(w, r, "/", http.StatusFound)
					return
				}
				next.ServeHTTP(w, r)
			})
		}}.main, "status 302, want 404"},

		{"homelab forgets", flaws{handler: header(func(h http.Header) { h.Del("X-Request-Id") })}.main, "header X-Request-Id is"},
		{"homelab is closed", flaws{homelab: &homelab.Config{}}.main, "header Access-Control-Allow-Origin is"},
		{"homelab is open", flaws{homelab: &homelab.Config{Origins: []string{"*"}}}.main, "no origins are configured"},
		{"homelab is patient", flaws{homelab: &homelab.Config{}}.main, "status 200, want 429"},
		{"homelab has more", flaws{handler: func(next http.Handler, o server.Options) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				o.Receipts.Layer()
				next.ServeHTTP(w, r)
			})
		}}.main, "app homelab has 2 middlewares"},
		{"homelab rounds", flaws{json: func(j *nethttp.JSON) {
			j.Marshal = func(v any) ([]byte, error) {
				text, err := json.Marshal(v)
				return []byte(strings.ReplaceAll(string(text), "23.5", "23")), err
			}
		}}.main, "other JSON than requested"},
		{"homelab obeys", flaws{json: func(j *nethttp.JSON) {
			j.Unmarshal = func(body []byte, v any) error {
				if err := json.Unmarshal(body, v); err != nil {
					return json.Unmarshal([]byte(`{"action":"turn_on"}`), v)
				}
				return nil
			}
		}}.main, "status 200, want 400"},

		{"ingest waits", flaws{serve: server.HTTP}.main, "it still waits for the rest after"},
	}
}

// TestSuiteFindsAppDefects: likewise of servers of the larger apps.
func TestSuiteFindsAppDefects(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process for each of many defects")
	}
	for _, d := range appDefects() {
		if _, err := os.Stat("/proc/self/status"); err != nil && d.name == "ingest hoards" {
			continue
		}
		name, _, _ := strings.Cut(d.name, " ")
		slow := d.name == "ingest waits" // takes 15 s
		if slow && os.Getenv("TARE_SOAK") == "" {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			m := conformance.Manifest{ID: "x", Kind: "server", Apps: []string{name}}
			if name == "apps" {
				m.Apps = []string{ingest.Name, homelab.Name}
			}
			s := conformance.Subject{Command: []string{os.Args[0], "server " + d.name}, Manifest: m, Limit: 30 * time.Second, SkipSlow: !slow}
			s.Enough = d.isFound
			err := errors.Join(s.Test(listKinds(), t.TempDir())...)
			switch {
			case d.want == "" && err != nil:
				t.Errorf("a sound server: %v", err)
			case d.want != "" && err == nil:
				t.Error("the defect is not found")
			case d.want != "" && !d.isFound(err):
				t.Errorf("found %.3000v; want %q", err, d.want)
			}
		})
	}
}

// TestUnknownApps: a server of something that nobody knows is not examined.
func TestUnknownApps(t *testing.T) {
	s := conformance.Subject{Command: []string{os.Args[0], "server none"}, Manifest: conformance.Manifest{ID: "x", Kind: "server", Apps: []string{"tiny", "chess"}}, Limit: 30 * time.Second}
	if err := errors.Join(s.Test(listKinds(), t.TempDir())...); err == nil || !strings.Contains(err.Error(), `no conformance suite for app "chess"`) {
		t.Errorf("%v", err)
	}
}
