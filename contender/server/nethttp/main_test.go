package nethttp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/homelab"
	homelabserving "github.com/tarebench/tare/apps/homelab/serving"
	"github.com/tarebench/tare/apps/ingest"
	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/server/nethttp"
)

// envServe makes the test binary the program that a leaf is.
const envServe = "TARE_TEST_SERVE"

// envFault says what is wrong with it; empty: nothing.
const envFault = "TARE_TEST_FAULT"

func TestMain(m *testing.M) {
	if os.Getenv(envServe) == "" {
		os.Exit(m.Run())
	}
	server.Main(server.Apps{
		ingestserving.App(ingested),
		homelabserving.App(homed),
	})
}

func ingested(o server.Options, s *ingest.Service) (server.Server, error) {
	if os.Getenv(envFault) == "hasty" {
		return hasty(s), nil
	}
	return nethttp.Ingest(map[ingest.Format]nethttp.Decoder{ingest.JSON: decode, ingest.Gob: nethttp.Gob})(o, s)
}

// hasty acknowledges batches and keeps them a moment later.
func hasty(s *ingest.Service) server.Server {
	return server.HTTPBodies(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		batch, err := decode(s, body)
		if err != nil {
			w.WriteHeader(400)
			return
		}
		go func() {
			time.Sleep(10 * time.Millisecond)
			_, _ = s.Accept(context.Background(), ingest.Head{}, batch)
		}()
		_ = json.NewEncoder(w).Encode(ingest.Receipt{Accepted: batch.Len(), Bytes: 1})
	}))
}

func decode(s *ingest.Service, body []byte) (ingest.Batch, error) {
	b := s.Batch(json.Marshal)
	return b, json.Unmarshal(body, b.Target())
}

func homed(o server.Options, house *homelab.House) (server.Server, error) {
	return nethttp.Homelab(nethttp.JSON{Unmarshal: json.Unmarshal, Marshal: json.Marshal})(o, house)
}

// service is the program, alone.
type service struct {
	t       *testing.T
	cmd     *exec.Cmd
	addr    string
	secure  bool
	done    chan struct{} // closed when it has ended
	mu      sync.Mutex
	said    strings.Builder
	outcome error
}

// start starts the program and waits until it serves.
func start(t *testing.T, args ...string) *service {
	t.Helper()
	return startWith(t, nil, args...)
}

func startWith(t *testing.T, env []string, args ...string) *service {
	t.Helper()
	s := &service{t: t, done: make(chan struct{})}
	s.cmd = exec.Command(os.Args[0], append([]string{"-addr", "127.0.0.1:0"}, args...)...)
	s.cmd.Env = append(append(os.Environ(), envServe+"=1", "GORACE=atexit_sleep_ms=0"), env...)
	out, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
	serving := make(chan string, 1)
	go func() {
		place := regexp.MustCompile(`serving \S+ at (https?)://(\S+)`)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.mu.Lock()
			fmt.Fprintln(&s.said, lines.Text())
			s.mu.Unlock()
			if m := place.FindStringSubmatch(lines.Text()); m != nil {
				s.secure = m[1] == "https"
				serving <- m[2]
			}
		}
		s.outcome = s.cmd.Wait()
		close(s.done)
	}()
	select {
	case s.addr = <-serving:
	case <-s.done:
		t.Fatalf("it does not serve: %v: %s", s.outcome, s.words())
	case <-time.After(time.Minute):
		t.Fatalf("it does not serve: %s", s.words())
	}
	return s
}

func (s *service) words() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.String()
}

// kill ends it as kill -9 does.
func (s *service) kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// end ends it by a signal and returns how long that took.
func (s *service) end() time.Duration {
	s.t.Helper()
	if runtime.GOOS == "windows" {
		s.t.Skip("there is no such signal")
	}
	begun := time.Now()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	select {
	case <-s.done:
	case <-time.After(time.Minute):
		s.t.Fatal("after SIGTERM it is still there")
	}
	if s.outcome != nil {
		s.t.Errorf("after SIGTERM: %v: %s", s.outcome, s.words())
	}
	return time.Since(begun)
}

// client has connections of its own.
func client(t *testing.T) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

// reply is an answer.
type reply struct {
	status int
	header http.Header
	body   string
}

// code is that of a refusal.
func (r reply) code() string {
	var ref struct{ Error string }
	_ = json.Unmarshal([]byte(r.body), &ref)
	return ref.Error
}

// send sends a body of a length that is said, or is not where that is -1, and
// reads the answer. Who refuses it need not read it.
func (s *service) send(c *http.Client, method, path string, body io.Reader, length int64, header ...string) (reply, error) {
	r, err := http.NewRequest(method, "http://"+s.addr+path, body)
	if err != nil {
		return reply{}, err
	}
	r.ContentLength = length
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := c.Do(r)
	if err != nil {
		return reply{}, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return reply{answer.StatusCode, answer.Header, string(text)}, err
}

// post sends text.
func (s *service) post(c *http.Client, body string, header ...string) reply {
	s.t.Helper()
	r, err := s.send(c, "POST", "/", strings.NewReader(body), int64(len(body)), header...)
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		s.t.Fatal(err)
	}
	return r
}

// record is one event.
func record(id string) string {
	return fmt.Sprintf(`{"id":%q,"timestamp":"2026-03-01T12:00:00Z","metadata":{"name":"u","age":1}}`, id)
}
