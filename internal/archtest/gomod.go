package archtest

import "strings"

// Module is the content of a go.mod file, as far as the rules need it.
type Module struct {
	Dir      string // of the go.mod, "." for the root
	Path     string
	Requires map[string]string // module → version
	Replaces map[string]string // module → its replacement
}

// parseMod reads a go.mod or go.work file: every verb with its arguments, blocks split into lines.
// This repository has no quoted paths, and it does not parse them.
func parseMod(src string) (verbs [][]string) {
	block := ""
	for line := range strings.Lines(src) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case block != "" && words[0] == ")":
			block = ""
		case block != "":
			verbs = append(verbs, append([]string{block}, words...))
		case len(words) == 2 && words[1] == "(":
			block = words[0]
		default:
			verbs = append(verbs, words)
		}
	}
	return verbs
}

func readModule(dir, src string) Module {
	m := Module{Dir: dir, Requires: map[string]string{}, Replaces: map[string]string{}}
	for _, v := range parseMod(src) {
		switch {
		case v[0] == "module" && len(v) == 2:
			m.Path = v[1]
		case v[0] == "require" && len(v) == 3:
			m.Requires[v[1]] = v[2]
		case v[0] == "replace":
			for i, word := range v {
				if word == "=>" && i+1 < len(v) {
					m.Replaces[v[1]] = v[i+1]
				}
			}
		}
	}
	return m
}

// needsDownload reports whether the module has a requirement that no directory replaces.
func (m Module) needsDownload() bool {
	for required := range m.Requires {
		if !strings.HasPrefix(m.Replaces[required], ".") {
			return true
		}
	}
	return false
}
