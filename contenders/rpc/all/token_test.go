package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"
)

// envAlone makes the test binary the program.
const envAlone = "TARE_TEST_ALONE"

func TestMain(m *testing.M) {
	if os.Getenv(envAlone) != "" {
		main()
	}
	os.Exit(m.Run())
}

// startAlone starts the program with a token, until the end of the test. It returns the
// process and what that says of itself.
func startAlone(t *testing.T) (pid int, said io.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-addr", "127.0.0.1:0", "-token", "secret")
	cmd.Env = append(os.Environ(), envAlone+"=1")
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid, said
}

// TestToken: alone, every face asks for the token, and says that it is ready to
// who has none.
func TestToken(t *testing.T) {
	_, out := startAlone(t)
	place := regexp.MustCompile(`serving users by (\w+) at http://(\S+)`)
	at := map[string]string{}
	for lines := bufio.NewScanner(out); len(at) < len(allFaces()) && lines.Scan(); {
		if found := place.FindStringSubmatch(lines.Text()); found != nil {
			at[found[1]] = found[2]
		}
	}
	if len(at) != len(allFaces()) {
		t.Fatalf("it serves %v", at)
	}
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{Protocols: &http.Protocols{}}}
	client.Transport.(*http.Transport).Protocols.SetUnencryptedHTTP2(true)
	send := func(method, url, kind, token string, body []byte) *http.Response {
		t.Helper()
		q, err := http.NewRequest(method, url, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", kind)
		q.Header.Set("Te", "trailers")
		if token != "" {
			q.Header.Set("Authorization", "Bearer "+token)
		}
		a, err := client.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		return a
	}
	for name, addr := range at {
		base, method := "http://"+addr, "/tare.users.v1.UserService/ListUsers"
		for token, want := range map[string]bool{"": false, "wrong": false, "secret": true} {
			let := false
			switch name {
			case "grpc": // a refusal has its status in the head
				let = send("POST", base+method, "application/grpc", token, make([]byte, 5)).Header.Get("Grpc-Status") != "16"
			case "connect":
				let = send("POST", base+method, "application/json", token, []byte("{}")).StatusCode == 200
			default:
				let = send("GET", base+"/v1/users", "", token, nil).StatusCode == 200
			}
			if let != want {
				t.Errorf("%s with token %q: let in is %v", name, token, let)
			}
		}
		if name == "grpc" {
			continue // has no pages
		}
		for _, page := range []string{"/", "/health", "/health/live", "/health/ready", "/metrics"} {
			if a := send("GET", base+page, "", "", nil); a.StatusCode != 200 {
				t.Errorf("%s%s without a token: %d", name, page, a.StatusCode)
			}
		}
	}
}
