package sink_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tarebench/tare/apps/ingest/sink"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "events.ndjson")

	// What a process left behind that was killed.
	if err := os.WriteFile(path, []byte(`{"id":"1"}`+"\n"+`{"id":"2`), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	f, cut, err := sink.Open(path, sink.Options{Fsync: true, Rotate: 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("bytes that were no line:", cut)

	// Two lines that belong together, and have no room in the first file.
	err = f.Keep(context.Background(), []byte(`{"id":"3"}`+"\n"+`{"id":"4"}`+"\n"), 2)
	fmt.Println("kept:", err == nil)
	if err := f.Close(); err != nil {
		fmt.Println(err)
	}

	for _, name := range []string{"events.ndjson.1", "events.ndjson"} {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		fmt.Printf("%s:\n%s", name, text)
	}
	// Output:
	// bytes that were no line: 8
	// kept: true
	// events.ndjson.1:
	// {"id":"1"}
	// events.ndjson:
	// {"id":"3"}
	// {"id":"4"}
}
