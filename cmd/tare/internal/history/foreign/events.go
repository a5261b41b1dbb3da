package foreign

import (
	"bytes"
	"encoding/json"
	"time"
)

// event is a line of go test -json (go doc test2json).
type event struct {
	Time    time.Time
	Action  string
	Package string
	Output  string
}

// isEvents reports whether text begins as the output of go test -json.
func isEvents(text []byte) bool {
	if !bytes.HasPrefix(text, []byte("{")) {
		return false
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	var e struct{ Action, Schema string }
	return json.Unmarshal(first, &e) == nil && e.Action != "" && e.Schema == ""
}

// readEvents reads the output of go test -json: the output of each package, however events of
// packages are mixed. The time is that of the first event.
func (f *file) readEvents() error {
	type output struct {
		lines []line
		begun bool // the last line has no end
	}
	of := map[string]*output{}
	var order []string
	first := true
	for _, l := range splitLines(f.text) {
		var e event
		if !bytes.HasPrefix(l.text, []byte("{")) {
			continue // the go command prints errors of builds as they are
		}
		if err := json.Unmarshal(l.text, &e); err != nil {
			return f.errorAt(l.number, 1, "not an event of go test -json: "+err.Error(), "the file may be cut off")
		}
		if first && !e.Time.IsZero() {
			f.at, first = e.Time, false
		}
		if e.Action != "output" {
			continue
		}
		o := of[e.Package]
		if o == nil {
			o = &output{}
			of[e.Package] = o
			order = append(order, e.Package)
		}
		for text := range bytes.Lines([]byte(e.Output)) {
			ends := bytes.HasSuffix(text, []byte("\n"))
			text = bytes.TrimRight(text, "\r\n")
			if o.begun {
				last := &o.lines[len(o.lines)-1]
				last.text = append(last.text, text...)
			} else {
				o.lines = append(o.lines, line{l.number, bytes.Clone(text)})
			}
			o.begun = !ends
		}
	}
	for _, pkg := range order {
		if err := f.readLog(of[pkg].lines, pkg); err != nil {
			return err
		}
	}
	return nil
}
