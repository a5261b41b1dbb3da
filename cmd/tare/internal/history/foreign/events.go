package foreign

import (
	"bytes"
	"encoding/json"
	"time"
)

// event is a line of go test -json (go doc test2json), such as
// {"Action":"output","Package":"example.com/p","Output":"BenchmarkOpen-8 1000 1234 ns/op\n"}.
type event struct {
	Time    time.Time
	Action  string
	Package string
	Output  string
}

func isEvents(text []byte) bool {
	if !bytes.HasPrefix(text, []byte("{")) {
		return false
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	var e struct{ Action, Schema string }
	return json.Unmarshal(first, &e) == nil && e.Action != "" && e.Schema == ""
}

// readEvents reads the output of go test -json. The events of packages may be mixed, so it joins the
// output of each package and reads that as a log.
func (f *file) readEvents() error {
	type output struct {
		lines  []line
		isOpen bool // the last line is incomplete
	}
	outputs := map[string]*output{} // by package
	var order []string
	needsTime := true
	for _, l := range splitLines(f.text) {
		var e event
		if !bytes.HasPrefix(l.text, []byte("{")) {
			continue // the go command prints errors of builds as plain text
		}
		if err := json.Unmarshal(l.text, &e); err != nil {
			return f.errorAt(l.number, 1, "not an event of go test -json: "+err.Error(), "the file may be cut off")
		}
		if needsTime && !e.Time.IsZero() {
			f.at, needsTime = e.Time, false
		}
		if e.Action != "output" {
			continue
		}
		o := outputs[e.Package]
		if o == nil {
			o = &output{}
			outputs[e.Package] = o
			order = append(order, e.Package)
		}
		for text := range bytes.Lines([]byte(e.Output)) {
			isComplete := bytes.HasSuffix(text, []byte("\n"))
			text = bytes.TrimRight(text, "\r\n")
			if o.isOpen {
				last := &o.lines[len(o.lines)-1]
				last.text = append(last.text, text...)
			} else {
				o.lines = append(o.lines, line{number: l.number, text: bytes.Clone(text)})
			}
			o.isOpen = !isComplete
		}
	}
	for _, pkg := range order {
		if err := f.readLog(outputs[pkg].lines, pkg); err != nil {
			return err
		}
	}
	return nil
}
