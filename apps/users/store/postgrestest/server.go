package postgrestest

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Options configure a server. The zero value is a server for a test.
type Options struct {
	Dir  string    // data directory, made if it does not exist; "" means one that Stop removes
	Port int       // on 127.0.0.1; 0 means a free one
	Sync bool      // wait for the disk at each commit, as PostgreSQL does by default
	Log  io.Writer // nil if the server's messages appear in errors only
}

// Server is a running PostgreSQL. Its methods are for one caller at a time.
type Server struct {
	o        Options
	programs string // directory of initdb and postgres
	owner    owner
	dir      string
	password string
	port     int
	process  *process
}

// Start prepares the directory and starts a server. It returns when the server accepts connections.
func Start(ctx context.Context, o Options) (*Server, error) {
	programs, err := findPrograms(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{o: o, programs: programs, dir: o.Dir, port: o.Port}
	if s.owner, err = unprivilegedOwner(); err != nil {
		return nil, err
	}
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "tare-postgres-"); err != nil {
			return nil, err
		}
	}
	if s.dir, err = filepath.Abs(s.dir); err == nil {
		if err = s.prepareData(ctx); err == nil {
			err = s.Restart(ctx)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.removeDir())
	}
	return s, nil
}

// URL returns the URL of the database postgres on the server, with the password of its superuser.
func (s *Server) URL() string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword("tare", s.password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)), Path: "/postgres", RawQuery: "sslmode=disable"}
	return u.String()
}

// Done is closed when the server and all its processes have ended.
func (s *Server) Done() <-chan struct{} { return s.process.done }

// Stop ends the server, which disconnects its clients immediately, and removes the directory if
// that was made for it.
func (s *Server) Stop() error {
	err := s.process.endWith(syscall.SIGINT)
	return errors.Join(err, s.removeDir())
}

// Kill ends the server as if it had crashed. Restart recovers committed data.
func (s *Server) Kill() error { return s.process.endWith(syscall.SIGKILL) }

// Restart starts a server that has ended, on the port that it had.
func (s *Server) Restart(ctx context.Context) error {
	for range 10 {
		port := s.port
		if port == 0 {
			var err error
			if port, err = freePort(); err != nil {
				return err
			}
		}
		p, err := s.startProcess(ctx, port)
		if err == nil {
			s.process, s.port = p, port
			return nil
		}
		if s.port != 0 || !strings.Contains(err.Error(), "could not bind") || ctx.Err() != nil {
			return err
		}
		// Another process took the free port meanwhile.
	}
	return errors.New("start PostgreSQL: no port stays free")
}

func (s *Server) removeDir() error {
	if s.o.Dir != "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// prepareData makes the data directory, unless it exists already.
func (s *Server) prepareData(ctx context.Context) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	secret := filepath.Join(s.dir, "password")
	if _, err := os.Stat(filepath.Join(s.dir, "data", "PG_VERSION")); err == nil {
		password, err := os.ReadFile(secret)
		s.password = string(password)
		return err
	}
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	s.password = hex.EncodeToString(random[:])
	if err := os.WriteFile(secret, []byte(s.password), 0o600); err != nil {
		return err
	}
	for _, path := range []string{secret, s.dir} {
		if err := s.owner.chownFile(path); err != nil {
			return err
		}
	}
	initdb := s.newCommand(ctx, "initdb", "-D", "data", "-U", "tare", "-A", "scram-sha-256", "--pwfile=password", "-E", "UTF8", "--locale=C", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, lastLines(string(out)))
	}
	return nil
}

// newCommand returns one of PostgreSQL's programs, run by its owner in the directory. It inherits
// no PG… variables.
func (s *Server) newCommand(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, filepath.Join(s.programs, name), args...)
	c.Dir = s.dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC", "HOME=" + s.dir}
	c.SysProcAttr = s.owner.procAttr()
	return c
}

// startProcess starts the server and waits until it is ready.
func (s *Server) startProcess(ctx context.Context, port int) (*process, error) {
	sync := "off"
	if s.o.Sync {
		sync = "on"
	}
	settings := []string{
		"listen_addresses=127.0.0.1", "port=" + strconv.Itoa(port), "unix_socket_directories=",
		"fsync=" + sync, "full_page_writes=" + sync, // committed data survives its end all the same
		"logging_collector=off", "log_destination=stderr", "lc_messages=C", "timezone=UTC",
	}
	args := []string{"-D", "data"}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	// The server outlives ctx, which is about its start.
	c := s.newCommand(context.WithoutCancel(ctx), "postgres", args...)
	stderr, err := c.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	p := &process{command: c, done: make(chan struct{})}
	ready := make(chan struct{})
	go p.readLog(stderr, s.o.Log, ready)
	select {
	case <-ready:
		return p, nil
	case <-p.done:
		return nil, fmt.Errorf("start PostgreSQL: it ended: %s", p.lastWords())
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("start PostgreSQL: %w: %s", ctx.Err(), p.lastWords()), p.endWith(syscall.SIGKILL))
	}
}

// process is a server's first process, with which all others end.
type process struct {
	command *exec.Cmd
	done    chan struct{} // closed when all have ended
	mu      sync.Mutex
	log     []string // last lines
}

// readLog reads the server's messages. All its processes have the same pipe: its end is theirs.
func (p *process) readLog(said io.Reader, log io.Writer, ready chan<- struct{}) {
	lines := bufio.NewReader(said)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			p.addLine(strings.TrimRight(line, "\n"))
			if log != nil {
				_, _ = io.WriteString(log, line)
			}
		}
		if ready != nil && strings.Contains(line, "database system is ready to accept connections") {
			close(ready)
			ready = nil
		}
		if err != nil {
			break
		}
	}
	_ = p.command.Wait() // a server that is ended or killed returns an error
	close(p.done)
}

func (p *process) addLine(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.log = append(p.log, line); len(p.log) > 20 {
		p.log = p.log[1:]
	}
}

func (p *process) lastWords() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return lastLines(strings.Join(p.log, "\n"))
}

// endWith sends a signal and waits for the end. It kills a server that does not end.
func (p *process) endWith(signal os.Signal) error {
	_ = p.command.Process.Signal(signal) // it may have ended already
	late, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	select {
	case <-p.done:
		return nil
	case <-late.Done():
	}
	_ = p.command.Process.Kill()
	return fmt.Errorf("PostgreSQL did not end within 30 s and was killed: %s", p.lastWords())
}

// freePort returns a port of loopback without listener.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// lastLines joins the last few lines into one.
func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], " / ")
}
