//go:build unix

package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users/store/postgrestest"
)

// TestNamedDatabase: what a service keeps in the database that somebody names is
// there after SIGTERM, after kill -9, and after each start.
func TestNamedDatabase(t *testing.T) {
	server := postgrestest.New(t).URL()
	program := filepath.Join(t.TempDir(), "nethttp")
	build := osexec.Command("go", "build", "-C", "../../../contenders/rpc/nethttp", "-tags", "db", "-buildvcs=false", "-o", program, ".")
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	names := []string{"ada"}
	s := startService(t, program, server)
	s.create(t, "ada")
	for i, end := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGTERM} {
		s.end(t, end)
		s = startService(t, program, server)
		s.has(t, end, names...)
		names = append(names, fmt.Sprint("user", i))
		s.create(t, names[len(names)-1])
	}
	s.end(t, syscall.SIGTERM)
}

// service is the program, as a person starts it.
type service struct {
	process *osexec.Cmd
	at      string // http://host:port
}

func startService(t *testing.T, program, store string) *service {
	t.Helper()
	s := &service{process: osexec.Command(program, "-app", "users", "-addr", "127.0.0.1:0", "-store", "postgres:"+store)}
	words := &lines{}
	s.process.Stderr = words
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.process.ProcessState == nil {
			_ = s.process.Process.Kill()
			_ = s.process.Wait()
		}
	})
	for end := time.Now().Add(time.Minute); s.at == ""; time.Sleep(10 * time.Millisecond) {
		s.at = regexp.MustCompile(`http://\S+`).FindString(words.String())
		if time.Now().After(end) {
			t.Fatalf("it does not serve: %s", words)
		}
	}
	return s
}

// end sends a signal and waits.
func (s *service) end(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := s.process.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	_ = s.process.Wait() // what is left is asked for by has
}

func (s *service) create(t *testing.T, name string) {
	t.Helper()
	body := fmt.Sprintf(`{"name":%q,"email":"%s@example.com"}`, name, name)
	r, err := http.Post(s.at+"/v1/users", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if answer, _ := io.ReadAll(r.Body); r.StatusCode != http.StatusCreated {
		t.Fatalf("create %s: %d %s", name, r.StatusCode, answer)
	}
}

// has wants all of them, and nobody else.
func (s *service) has(t *testing.T, after syscall.Signal, names ...string) {
	t.Helper()
	r, err := http.Get(s.at + "/v1/users?limit=100")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var page struct {
		Users []struct{ Name string }
		Total int
	}
	answer, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(answer, &page); err != nil || len(page.Users) != len(names) {
		t.Fatalf("after %v: %s, error %v; want %v", after, answer, err, names)
	}
	for i, name := range names {
		if page.Users[i].Name != name {
			t.Errorf("after %v: %s; want %v", after, answer, names)
		}
	}
}

// lines is what a process has written, which may be read meanwhile.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
