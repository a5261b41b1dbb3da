package ingest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const aTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestTraceparentIsKept(t *testing.T) {
	for _, c := range []struct {
		trace bool
		sent  string
		kept  bool
	}{
		{true, aTrace, true},
		{false, aTrace, false},
		{true, "", false},
		{true, strings.ToUpper(aTrace), false},
		{true, aTrace + "-x", false},
		{true, aTrace[:54], false},
		{true, "ff" + aTrace[2:], false},
		{true, strings.Replace(aTrace, "-", "_", 1), false},
		{true, "00-00000000000000000000000000000000-00f067aa0ba902b7-01", false},
		{true, "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false},
		{true, `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-"}`, false},
	} {
		path := filepath.Join(t.TempDir(), "events.ndjson")
		s := newService(t, Config{Sink: "file:" + path, Trace: c.trace})
		if _, err := s.Accept(context.Background(), Head{Traceparent: c.sent}, Records(list(2), json.Marshal)); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var got struct {
				Traceparent string
				Metadata    Metadata
			}
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatal(err)
			}
			if (got.Traceparent == aTrace) != c.kept || !c.kept && got.Traceparent != "" || got.Metadata.Name == "" {
				t.Errorf("trace %v, %q was sent: %s", c.trace, c.sent, line)
			}
		}
	}
}
