package check

import "github.com/tarebench/tare"

// This check reports the contenders that could not be built, or whose programs are not installed.

func build() Check {
	return Check{
		ID:       "build",
		Severity: tare.Void,
		Summary:  "A contender could not be built. The study continues without it. A contender whose programs are not installed is also skipped, with a note instead of an error.",
		Why: "If contenders that are hard to build are missing without a word, it is a different comparison. " +
			"So the result lists every selected contender that could not be built, with the start of the compiler's output.",
		Advice:             "build the contender by itself in its own directory (GOWORK=off go build) and read the complete message",
		adviceIsForAuthors: true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, c := range in.Contenders {
				if c.Absent() {
					out = append(out, tare.Finding{
						Contender: c.ID, Severity: tare.Note, Message: c.Error,
						Advice: "install what is missing, or put it on PATH; docs/peers.md says how to get and set up each peer",
					})
					continue
				}
				if c.Error != "" {
					out = append(out, tare.Finding{Contender: c.ID, Message: "could not be built: " + c.Error})
				}
			}
			return out
		},
	}
}
