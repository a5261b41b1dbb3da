package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tarebench/tare/cmd/tare/internal/fleet"
)

// stage is a server whose commands are functions of the test.
type stage struct {
	*Server
	calls [][]string
}

// newStage returns a server in an empty directory. print is what its commands print.
func newStage(t *testing.T, limits fleet.Limits, run func(ctx context.Context, args []string, out io.Writer) error) *stage {
	t.Helper()
	s := &stage{Server: &Server{
		Version: "test", Limits: limits, Dir: t.TempDir(), Results: t.TempDir(),
		Exit: func(err error) int {
			if err == nil {
				return 0
			}
			return 2
		},
		Fail: func(path string, err error) []byte {
			text, _ := json.Marshal(map[string]string{"path": path, "message": err.Error()})
			return text
		},
		Free: func() fleet.Free { return fleet.Free{Memory: -1, Disk: -1} },
	}}
	s.Run = func(ctx context.Context, args []string, out io.Writer) error {
		s.calls = append(s.calls, args)
		return run(ctx, args, out)
	}
	return s
}

// connect returns a client of the server.
func (s *stage) connect(t *testing.T) *sdk.ClientSession {
	t.Helper()
	near, far := sdk.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.newServer().Run(ctx, far) // ends with ctx
	}()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "v1"}, nil).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		cancel()
		<-ended
	})
	return client
}

// call returns the text of a tool's reply, and whether it is an error.
func call(t *testing.T, client *sdk.ClientSession, tool string, input any) (text string, failed bool) {
	t.Helper()
	res, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: input})
	if err != nil {
		return err.Error(), true
	}
	content, ok := res.Content[0].(*sdk.TextContent)
	if !ok {
		t.Fatalf("%s: content %T", tool, res.Content[0])
	}
	return content.Text, res.IsError
}

func printing(document string) func(context.Context, []string, io.Writer) error {
	return func(_ context.Context, _ []string, out io.Writer) error {
		_, err := io.WriteString(out, document)
		return err
	}
}

func TestTools(t *testing.T) {
	client := newStage(t, fleet.Limits{}, printing("{}")).connect(t)
	list, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if tool.Annotations.ReadOnlyHint != slices.Contains([]string{"explain", "results"}, tool.Name) {
			t.Errorf("%s: read only %v", tool.Name, tool.Annotations.ReadOnlyHint)
		}
	}
	if want := []string{"bench", "explain", "gate_verdict", "json", "load", "results", "routes"}; !slices.Equal(names, want) {
		t.Errorf("tools %v, want %v", names, want)
	}
}

// TestArguments checks which command a tool carries out.
func TestArguments(t *testing.T) {
	s := newStage(t, fleet.Limits{Commands: true}, printing(`{"outcome":"pass"}`))
	if err := os.WriteFile(filepath.Join(s.Dir, "a.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	client := s.connect(t)
	for _, c := range []struct {
		tool, input, want string
	}{
		{"explain", `{"name":"control"}`, "explain --json -- control"},
		{"bench", `{"base":"HEAD~1","packages":["./..."],"bench":"Parse","max":"60s","changed":true}`, "bench --json --quiet --exit-code --base=HEAD~1 --changed --bench=Parse --max=60s -- ./..."},
		{"gate_verdict", `{"base":"main"}`, "gate --json --quiet --base=main"},
		{"json", `{"files":["a.json"],"only":["sonic*"],"type":"example.com/m.T"}`, "json --json --quiet --type=example.com/m.T --only=sonic* -- a.json"},
		{"routes", `{"file":"a.json"}`, "routes --json --quiet -- a.json"},
		{"load", `{"url":"http://127.0.0.1:8080/a?b=c","rate":"50/s","duration":"3s"}`, "load --json --quiet --warm=1s --duration=3s --rate=50/s -- http://127.0.0.1:8080/a?b=c"},
		{"load", `{"url":"/a","start":"./shop $PORT"}`, "load --json --quiet --warm=1s --start=./shop $PORT --duration=10s -- /a"},
		{"results", `{}`, "history --json"},
		{"results", `{"study":"json encode"}`, "history --json --runs -- json encode"},
	} {
		s.calls = nil
		text, _ := call(t, client, c.tool, json.RawMessage(c.input))
		if len(s.calls) != 1 || strings.Join(s.calls[0], " ") != c.want {
			t.Errorf("%s %s: %q, want %q: %s", c.tool, c.input, s.calls, c.want, text)
		}
	}
}

// TestNoRuns lists the stored runs where there are none.
func TestNoRuns(t *testing.T) {
	client := newStage(t, fleet.Limits{}, printing(`[]`)).connect(t)
	text, isError := call(t, client, "results", json.RawMessage(`{}`))
	if isError || !strings.Contains(text, `"runs":[]`) {
		t.Errorf("%s, want an empty list of runs", text)
	}
}

// TestHostileInputs sends what must not reach a command, with all permissions that there are.
func TestHostileInputs(t *testing.T) {
	s := newStage(t, fleet.Limits{Commands: true, Rate: 1000, Duration: time.Minute}, printing(`{}`))
	outside := filepath.Join(t.TempDir(), "result.json")
	for path, text := range map[string]string{outside: "{}", filepath.Join(s.Dir, "a.json"): "{}"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{s.Dir, s.Results} {
		if err := os.Symlink(filepath.Dir(outside), filepath.Join(dir, "link")); err != nil {
			t.Skip("no symbolic links:", err)
		}
	}
	client := s.connect(t)
	long := strings.Repeat("x", maxText+1)
	many := strings.TrimSuffix(strings.Repeat(`"a.json",`, maxTexts+1), ",")
	for _, c := range [][2]string{
		{"explain", `{"name":"--help"}`}, {"explain", `{"name":"a\nb"}`}, {"explain", `{"name":""}`}, {"explain", `{"name":"` + long + `"}`},
		{"explain", `{}`}, {"explain", `{"name":1}`}, {"explain", `{"name":"control","catalog":"/"}`}, {"explain", `[]`}, {"shell", `{}`},
		{"json", `{"files":["../a.json"]}`}, {"json", `{"files":["` + outside + `"]}`}, {"json", `{"files":["link/result.json"]}`}, {"json", `{"files":["-"]}`},
		{"json", `{"files":["--output=x"]}`}, {"json", `{"files":["/dev/zero"]}`}, {"json", `{"files":["."]}`}, {"json", `{"files":[` + many + `]}`}, {"json", `{"files":[]}`},
		{"json", `{"files":["a.json"],"type":"a\u0000b"}`}, {"json", `{"files":["a.json"],"only":["` + long + `"]}`}, {"routes", `{"file":"link/result.json"}`},
		{"bench", `{"base":"--output=/tmp/x"}`}, {"bench", `{"base":"main","head":"-c"}`}, {"bench", `{}`}, {"bench", `{"base":""}`},
		{"bench", `{"base":"main","packages":["-exec=sh"]}`}, {"bench", `{"base":"main","packages":["../..."]}`}, {"bench", `{"base":"main","packages":["./a/../../b"]}`}, {"bench", `{"base":"main","packages":["/etc"]}`},
		{"bench", `{"base":"main","seed":-1}`}, {"bench", `{"base":"main","env":["PATH=/tmp"]}`},
		{"gate_verdict", `{"base":"-x"}`}, {"gate_verdict", `{"run":"../../etc"}`}, {"gate_verdict", `{"run":"link"}`}, {"gate_verdict", `{"run":"a","base":"b"}`},
		{"results", `{"run":"link"}`}, {"results", `{"run":"/etc"}`}, {"results", `{"run":".."}`}, {"results", `{"study":"--page=x"}`},
		{"load", `{"url":"http://example.com/","rate":"5/s"}`}, {"load", `{"url":"http://10.0.0.1:80/","rate":"5/s"}`}, {"load", `{"url":"http://127.0.0.1@example.com/","rate":"5/s"}`},
		{"load", `{"url":"file:///etc/passwd","rate":"5/s"}`}, {"load", `{"url":"--start=sh","rate":"5/s"}`}, {"load", `{"url":"http://localhost/","rate":"5000/s"}`}, {"load", `{"url":"http://localhost/","rate":"step:1/s,5000/s"}`},
		{"load", `{"url":"http://localhost/"}`}, {"load", `{"url":"http://localhost/","rate":"5/s","duration":"1h"}`}, {"load", `{"url":"http://localhost/","rate":"5/s","duration":"-1s"}`}, {"load", `{"url":"http://localhost/","rate":"5/s","body":"@/etc/passwd"}`},
		{"load", `{"url":"http://example.com/","start":"./shop","rate":"5/s"}`}, {"load", `{"url":"//example.com/","start":"./shop","rate":"5/s"}`}, {"load", `{"url":"http://localhost/","rate":"5/s","connections":-1}`},
	} {
		if text, failed := call(t, client, c[0], json.RawMessage(c[1])); !failed {
			t.Errorf("%s %.80s: %s", c[0], c[1], text)
		}
	}
	for _, args := range s.calls {
		t.Errorf("carried out: %.200q", args)
	}
	if text, failed := call(t, client, "explain", json.RawMessage(`{"name":"control"}`)); failed || len(s.calls) != 1 {
		t.Errorf("the server serves no more: %s", text)
	}
}

// TestNeedsPermission calls every tool that measures without --allow-commands.
func TestNeedsPermission(t *testing.T) {
	s := newStage(t, fleet.Limits{}, printing("{}"))
	if err := os.WriteFile(filepath.Join(s.Dir, "a.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	client := s.connect(t)
	for tool, input := range map[string]string{
		"bench": `{"base":"main"}`, "gate_verdict": `{"base":"main"}`, "json": `{"files":["a.json"]}`, "routes": `{"file":"a.json"}`, "load": `{"url":"http://localhost/"}`,
	} {
		if text, failed := call(t, client, tool, json.RawMessage(input)); !failed || !strings.Contains(text, "--allow-commands") {
			t.Errorf("%s: %s", tool, text)
		}
	}
	if len(s.calls) > 0 {
		t.Errorf("carried out: %q", s.calls)
	}
}

// TestLimits ends commands that print without end, take too long or fail.
func TestLimits(t *testing.T) {
	endless := func(ctx context.Context, _ []string, out io.Writer) error {
		for ctx.Err() == nil {
			if _, err := out.Write(make([]byte, 1<<20)); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	waiting := func(ctx context.Context, _ []string, _ io.Writer) error {
		<-ctx.Done()
		return ctx.Err()
	}
	for name, c := range map[string]struct {
		run  func(context.Context, []string, io.Writer) error
		want string
	}{
		"endless": {endless, "prints more than 64 MiB"},
		"long":    {waiting, "--most-duration 50ms"},
		"large":   {printing(`"` + strings.Repeat("x", maxReply) + `"`), "more than the 256 kB"},
		"failing": {func(context.Context, []string, io.Writer) error { return errors.New("disk on fire") }, "disk on fire"},
		"panic":   {func(context.Context, []string, io.Writer) error { panic("on fire") }, "the tool failed: on fire"},
		"no JSON": {printing("<html>"), "invalid character"},
	} {
		limits := fleet.Limits{}
		if name == "long" {
			limits.Duration = 50 * time.Millisecond
		}
		client := newStage(t, limits, c.run).connect(t)
		if text, failed := call(t, client, "explain", map[string]string{"name": "x"}); !failed || !strings.Contains(text, c.want) {
			t.Errorf("%s: %.300s", name, text)
		}
	}
}

// TestOneAtATime calls a tool from several goroutines: no two commands overlap.
func TestOneAtATime(t *testing.T) {
	var running, most atomic.Int32
	s := newStage(t, fleet.Limits{}, nil)
	s.Run = func(_ context.Context, _ []string, out io.Writer) error {
		most.Store(max(most.Load(), running.Add(1)))
		defer running.Add(-1)
		_, err := io.WriteString(out, "{}")
		return err
	}
	client := s.connect(t)
	failed := make(chan error)
	for range 8 {
		go func() {
			_, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "explain", Arguments: map[string]string{"name": "x"}})
			failed <- err
		}()
	}
	for range 8 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d commands at a time", most.Load())
	}
}

// TestHostileLines sends lines that are no messages. The server ends the session or goes
// on, but does not hang, panic or carry anything out.
func TestHostileLines(t *testing.T) {
	for name, line := range map[string]string{
		"no JSON":      "hello",
		"binary":       "\x00\xff\xfe",
		"other object": `{"a":1}`,
		"batch":        `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"explain","arguments":{"name":"x"}}}]`,
		"deep":         strings.Repeat("[", maxLine/2),
		"deep params":  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + strings.Repeat(`{"a":`, maxLine/8) + "1" + strings.Repeat("}", maxLine/8) + "}",
		"too long":     `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 2*maxLine) + `"}`,
		"early call":   `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bench","arguments":{"base":"main"}}}`,
	} {
		s := newStage(t, fleet.Limits{}, printing("{}"))
		in, client := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(t.Context(), in, discard{}) }()
		go func() {
			fmt.Fprintln(client, line)
			client.Close()
		}()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: the server hangs", name)
		}
		if len(s.calls) > 0 {
			t.Errorf("%s: carried out %q", name, s.calls)
		}
	}
}

// discard takes everything.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }
