package server

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	homelabserving "github.com/tarebench/tare/apps/homelab/serving"
	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/apps/tiny"
	sdk "github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
)

// The test binary is every server these tests need: started by a lab, it is the
// variant that hello names; as a command, the part that this variable names.
const envPart = "TARE_TEST_SERVER"

// quick keeps the race detector from waiting a second at the end of every
// process.
const quick = "GORACE=atexit_sleep_ms=0"

// RunTests is the TestMain of both packages, whose kinds serve these apps.
func RunTests(m *testing.M, apps ...App) {
	served = Of(Name, apps...).apps
	if os.Getenv(wire.EnvWire) != "" {
		sdk.Main(sdk.Apps{sdk.Plain("tiny", serveTiny), sdk.Plain("", sdk.Null{Answer: sdk.Anything}.Serve), ingestserving.App(serveIngest), homelabserving.App(serveHomelab)}, variants()...)
	}
	if part := os.Getenv(envPart); part != "" {
		os.Exit(command(part))
	}
	before := runtime.NumGoroutine()
	code := m.Run()
	if fuzzing := flag.Lookup("test.fuzz").Value.String() != ""; fuzzing {
		os.Exit(code) // which has goroutines of its own
	}
	if left := goroutines(before); left != "" {
		fmt.Fprintf(os.Stderr, "goroutines are left:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// goroutines waits until there are no more than so many, and returns the stacks
// of all where there still are.
func goroutines(most int) string {
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > most; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			return string(buf[:runtime.Stack(buf, true)])
		}
	}
	return ""
}

// turning is how many requests a server answers before it shows what it is.
const turning = 300

func variants() []string {
	return []string{"good", "null", "logs", "closes", "sleeps", "dozes", "deaf", "reads", "drops", "layered", "wrong", "refuses", "stalls", "resets", "garbage", "errors", "exits", "killed", "loses", "gullible", "miscounts", "discards", "lingers", "hollow", "indents"}
}

// serveTiny makes the tiny app as the variant has it.
func serveTiny(o sdk.Options) (sdk.Server, error) {
	switch o.Variant {
	case "refuses", "stalls", "resets", "garbage", "exits", "killed":
		return &faulty{part: o.Variant, o: o, over: make(chan struct{})}, nil
	}
	return sdk.HTTP(handler(o)), nil
}

// handler answers as tiny's reference does, and does something besides.
func handler(o sdk.Options) http.Handler {
	var served atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.Receipts.Request()
		n := served.Add(1)
		switch o.Variant {
		case "logs":
			fmt.Fprintf(os.Stdout, "%s %s\n", r.Method, r.URL.Path)
		case "closes":
			w.Header().Set("Connection", "close")
		case "sleeps":
			time.Sleep(2 * time.Millisecond)
		case "dozes":
			time.Sleep(20 * time.Millisecond)
		case "reads", "deaf":
			if o.Variant == "reads" {
				got, _ := io.Copy(io.Discard, r.Body)
				o.Receipts.Body(got)
			}
			fmt.Fprint(w, "ok\n")
			return
		case "drops":
			if n%2 == 0 {
				break
			}
			o.Receipts.Request() // once too often
		case "layered":
			o.Receipts.Layer()
			o.Receipts.Layer()
		case "errors":
			if n > turning {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
		}
		if o.Log != nil {
			fmt.Fprintf(o.Log, "%s %s\n", r.Method, r.URL.Path)
		}
		status, kind, body := tiny.Answer(r.Method, r.RequestURI)
		if kind != "" {
			w.Header().Set("Content-Type", strings.ToUpper(kind)+"; charset=utf-8")
		}
		if o.Variant == "wrong" && n > 1 {
			body = []byte("wrong\n")
		}
		w.WriteHeader(status)
		_, _ = w.Write(body)
	})
}

// faulty is a server that answers as it should until it does not.
type faulty struct {
	part string
	o    sdk.Options

	served atomic.Int64
	mu     sync.Mutex
	l      net.Listener
	conns  []net.Conn
	ended  bool
	over   chan struct{}
}

func (f *faulty) Serve(l net.Listener) error {
	f.mu.Lock()
	f.l = l
	f.mu.Unlock()
	for {
		c, err := l.Accept()
		if err != nil {
			f.mu.Lock()
			defer f.mu.Unlock()
			if !f.ended { // it has closed its listener, and lives
				f.mu.Unlock()
				<-f.over
				f.mu.Lock()
			}
			return nil
		}
		f.mu.Lock()
		f.conns = append(f.conns, c)
		f.mu.Unlock()
		go f.serve(c)
	}
}

func (f *faulty) Shutdown(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.ended {
		f.ended = true
		close(f.over)
	}
	for _, c := range f.conns {
		_ = c.Close()
	}
	_ = f.l.Close()
	return nil
}

func (f *faulty) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		f.o.Receipts.Request()
		if f.served.Add(1) > turning && f.turn(c) {
			return
		}
		status, kind, body := tiny.Answer(r.Method, r.RequestURI)
		if _, err := fmt.Fprintf(c, "HTTP/1.1 %d x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", status, kind, len(body), body); err != nil {
			return
		}
	}
}

// turn shows what the part is about. True: the connection is done with.
func (f *faulty) turn(c net.Conn) bool {
	switch f.part {
	case "refuses":
		f.mu.Lock()
		_ = f.l.Close()
		f.mu.Unlock()
		return true
	case "stalls":
		time.Sleep(time.Hour)
	case "resets":
		_ = c.(*net.TCPConn).SetLinger(0)
		return true
	case "garbage":
		_, _ = io.WriteString(c, "\x00\x01 this is no HTTP\r\n\r\n")
		return true
	case "exits":
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(3)
	case "killed":
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
		time.Sleep(time.Hour)
	}
	return false
}

// command is a server that does not speak the protocol.
func command(part string) int {
	switch part {
	case "collects", "forgets":
		return collect(part)
	case "never listens":
		time.Sleep(time.Hour)
	case "crashes":
		fmt.Fprintln(os.Stderr, "no configuration found")
		return 3
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	s := sdk.HTTP(handler(sdk.Options{Variant: part, Receipts: &sdk.Receipts{}}))
	go func() {
		<-told
		_ = s.Shutdown(context.Background())
	}()
	if err := s.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
