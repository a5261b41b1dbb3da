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

// envAlone is the environment variable with which the test binary runs the program.
const envAlone = "TARE_TEST_ALONE"

func TestMain(m *testing.M) {
	if os.Getenv(envAlone) != "" {
		main()
	}
	os.Exit(m.Run())
}

// startAlone starts the program with a token, until the end of the test. It returns the
// id of the process and its standard error.
func startAlone(t *testing.T) (pid int, stderr io.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-addr", "127.0.0.1:0", "-token", "secret")
	cmd.Env = append(os.Environ(), envAlone+"=1")
	stderr, err := cmd.StderrPipe()
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
	return cmd.Process.Pid, stderr
}

// TestToken checks that every transport of a standalone program requires the token,
// except for the pages about its state.
func TestToken(t *testing.T) {
	_, out := startAlone(t)
	serving := regexp.MustCompile(`serving users by (\w+) at http://(\S+)`)
	addrs := map[string]string{} // by transport
	for lines := bufio.NewScanner(out); len(addrs) < len(listTransports()) && lines.Scan(); {
		if found := serving.FindStringSubmatch(lines.Text()); found != nil {
			addrs[found[1]] = found[2]
		}
	}
	if len(addrs) != len(listTransports()) {
		t.Fatalf("it serves %v", addrs)
	}
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{Protocols: &http.Protocols{}}}
	client.Transport.(*http.Transport).Protocols.SetUnencryptedHTTP2(true)
	send := func(method, url, contentType, token string, body []byte) *http.Response {
		t.Helper()
		q, err := http.NewRequest(method, url, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", contentType)
		q.Header.Set("Te", "trailers")
		if token != "" {
			q.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := client.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response
	}
	for name, addr := range addrs {
		base, method := "http://"+addr, "/tare.users.v1.UserService/ListUsers"
		for token, want := range map[string]bool{"": false, "wrong": false, "secret": true} {
			accepted := false
			switch name {
			case "grpc": // an error has its status in the headers
				accepted = send("POST", base+method, "application/grpc", token, make([]byte, 5)).Header.Get("Grpc-Status") != "16"
			case "connect":
				accepted = send("POST", base+method, "application/json", token, []byte("{}")).StatusCode == 200
			default:
				accepted = send("GET", base+"/v1/users", "", token, nil).StatusCode == 200
			}
			if accepted != want {
				t.Errorf("%s with token %q: accepted is %v", name, token, accepted)
			}
		}
		if name == "grpc" {
			continue // it has no pages
		}
		for _, page := range []string{"/", "/health", "/health/live", "/health/ready", "/metrics"} {
			if a := send("GET", base+page, "", "", nil); a.StatusCode != 200 {
				t.Errorf("%s%s without a token: %d", name, page, a.StatusCode)
			}
		}
	}
}
