package services

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// envVictim makes TestServiceEndsWithTest the test that is killed.
const envVictim = "TARE_TEST_VICTIM"

// TestServiceEndsWithTest: a service does not outlive the test that started it, if that
// is killed.
func TestServiceEndsWithTest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a service")
	}
	const line = "victim serves at "
	if os.Getenv(envVictim) != "" {
		s := serve(t, t.TempDir(), "tare serve tiny --addr 127.0.0.1:0", environment(t))
		fmt.Println(line + s.addr)
		time.Sleep(time.Hour)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestServiceEndsWithTest$")
	cmd.Env = append(os.Environ(), envVictim+"=1", "TMPDIR="+t.TempDir()) // what it leaves
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	addr := ""
	for lines := bufio.NewScanner(out); addr == "" && lines.Scan(); {
		_, addr, _ = strings.Cut(lines.Text(), line)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	if addr == "" {
		t.Fatal("the other test starts no service")
	}
	eventually(t, "the service ends", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
}
