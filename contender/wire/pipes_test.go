package wire_test

import (
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// envStay makes the test binary a child that stays until its input ends.
const envStay = "WIRE_TEST_STAY"

// TestMain is also the contender of the tests below: started under a lab, it
// answers one request with what it can see.
func TestMain(m *testing.M) {
	if os.Getenv(envStay) != "" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	in, out, ok, err := wire.Pipes()
	if !ok {
		os.Exit(m.Run())
	}
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	q, err := wire.NewReader(in).Request()
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	reply := wire.Reply{ID: q.ID, Hello: wire.Hello{Kind: os.Getenv(wire.EnvWire)}}
	if q.Op == "fork" { // leave a child behind
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), wire.EnvWire+"=", envStay+"=1")
		child.Stdin = os.Stdin
		if err := child.Start(); err != nil {
			reply.Message = err.Error()
		}
	}
	if err := wire.NewWriter(out).Reply(reply); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func self(spec string) (*exec.Cmd, *strings.Builder) {
	var stderr strings.Builder
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), wire.EnvWire+"="+spec)
	cmd.Stderr = &stderr
	return cmd, &stderr
}

// TestPipesDescriptors also has the contender leave a child behind: the
// child must not hold the pipes open once the contender is gone.
func TestPipesDescriptors(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("descriptors cannot be inherited here")
	}
	pipe := func() (r, w *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close(); w.Close() })
		return r, w
	}
	requests, ask := pipe()
	answers, replies := pipe()
	stay, leave := pipe()
	defer leave.Close()
	cmd, stderr := self("3,4")
	cmd.Stdin = stay
	cmd.ExtraFiles = []*os.File{requests, replies}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	requests.Close()
	replies.Close()
	if err := wire.NewWriter(ask).Request(wire.Request{ID: 3, Op: "fork"}); err != nil {
		t.Fatal(err)
	}
	if err := answers.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	r := wire.NewReader(answers)
	got, err := r.Reply()
	if err != nil || got.ID != 3 || got.Kind != "3,4" || got.Message != "" {
		t.Errorf("reply %+v, %v", got, err)
	}
	if _, err := r.Reply(); err != io.EOF {
		t.Errorf("after the contender's end: %v, want io.EOF", err)
	}
	leave.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, stderr)
	}
}

func TestPipesSocket(t *testing.T) {
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback: ", err)
	}
	defer listen.Close()
	cmd, stderr := self("tcp:" + listen.Addr().String())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := listen.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := wire.NewWriter(conn).Request(wire.Request{ID: 4}); err != nil {
		t.Fatal(err)
	}
	if got, err := wire.NewReader(conn).Reply(); err != nil || got.ID != 4 {
		t.Errorf("reply %+v, %v", got, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, stderr)
	}
}

func TestPipesRefuses(t *testing.T) {
	for spec, want := range map[string]string{
		"3":                   `want two descriptors`,
		"3,x":                 `want two descriptors`,
		"0,1":                 `want two descriptors`,
		"5,5":                 `want two descriptors`,
		"3000,3001":           `descriptor 3000`,
		"tcp:":                `TARE_WIRE=tcp:`,
		"tcp:192.0.2.1:9":     `not a loopback address`,
		"tcp:[2001:db8::1]:9": `not a loopback address`,
		"tcp:localhost:http!": `TARE_WIRE=tcp:localhost`,
	} {
		t.Setenv(wire.EnvWire, spec)
		if _, _, ok, err := wire.Pipes(); !ok || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: ok %v, error %v; want %q", spec, ok, err, want)
		}
	}
	t.Setenv(wire.EnvWire, "")
	if _, _, ok, err := wire.Pipes(); ok || err != nil {
		t.Errorf("without the variable: ok %v, error %v", ok, err)
	}
}
