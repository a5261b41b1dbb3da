package check

import (
	"strings"

	"github.com/tarebench/tare"
)

// This check compares the modules and functions that a contender claims to use with those in its
// binary. For example, a contender named ffjson must contain the module ffjson.

func identity() Check {
	return Check{
		ID:       "identity",
		Severity: tare.Void,
		Summary:  "The built binary must contain the modules and functions the contender claims to be made of.",
		Why: "A benchmark called \"ffjson\" measured encoding/json: no code had been generated, and the library then falls back without a word. " +
			"Other libraries fall back if their assembly does not support the Go version or the processor. The binary itself shows what was linked into it.",
		Advice:             "generate or enable what is missing, or correct modules and symbols in contender.json",
		adviceIsForAuthors: true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, c := range in.Contenders {
				if c.Error != "" {
					continue // it was not built
				}
				var lacks []string
				for _, m := range c.Identity.MissingModules {
					lacks = append(lacks, "module "+m)
				}
				for _, s := range c.Identity.MissingSymbols {
					lacks = append(lacks, "a function named like "+s)
				}
				if len(lacks) > 0 {
					out = append(out, tare.Finding{Contender: c.ID, Message: "the binary lacks " + strings.Join(lacks, ", ") + ", which it is claimed to contain"})
				}
			}
			return out
		},
	}
}
