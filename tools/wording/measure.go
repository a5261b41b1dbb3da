package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// figures counts the wording of a package.
type figures struct {
	functions, oneWord, participles, adverbs int // private functions, and those with names of a kind
	definitions                              int // comments such as "X is what …"
	words, privateWords                      int // words of comments and strings, and this project's words
}

// String returns the figures in words and shares.
func (f figures) String() string {
	return fmt.Sprintf("%d private functions, %.0f %% one word, %d participles, %d adverbs, %d \"X is what\", %.0f private words in 10,000",
		f.functions, 100*share(f.oneWord, f.functions), f.participles, f.adverbs, f.definitions, 1e4*share(f.privateWords, f.words))
}

func (f *figures) add(g figures) {
	f.functions += g.functions
	f.oneWord += g.oneWord
	f.participles += g.participles
	f.adverbs += g.adverbs
	f.definitions += g.definitions
	f.words += g.words
	f.privateWords += g.privateWords
}

func share(part, whole int) float64 { return float64(part) / float64(max(whole, 1)) }

// measured has the figures of a package, and the counted places.
type measured struct {
	figures
	places map[string][]string // "FILE:LINE: text" by column of the table
}

// addPlaceFunc records a place that a figure counts.
type addPlaceFunc func(figure string, pos token.Pos, text string)

// measureTree measures every directory with Go files below root, by slash path. Tests and generated files do not
// count.
func measureTree(root string) (map[string]measured, error) {
	packages := map[string]measured{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && isSkipped(name):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		dir := filepath.ToSlash(filepath.Dir(relative))
		p, ok := packages[dir]
		if !ok {
			p.places = map[string][]string{}
		}
		if err := p.addFile(relative, source); err != nil {
			return err
		}
		if p.functions+p.words > 0 {
			packages[dir] = p
		}
		return nil
	})
	return packages, err
}

func isSkipped(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains([]string{"testdata", "vendor", "node_modules", "out"}, name)
}

// addFile adds the figures of one file. path is for messages.
func (p *measured) addFile(path string, source []byte) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.ParseComments)
	if err != nil || ast.IsGenerated(file) {
		return err
	}
	addPlace := func(figure string, pos token.Pos, text string) {
		p.places[figure] = append(p.places[figure], fmt.Sprintf("%s:%d: %s", path, set.Position(pos).Line, text))
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			p.addFunction(f, addPlace)
		}
	}
	for _, group := range file.Comments {
		first := set.Position(group.Pos())
		before := source[first.Offset-(first.Column-1) : first.Offset] // text before it on the line
		if strings.TrimSpace(string(before)) == "" && definition.MatchString(group.List[0].Text) {
			p.definitions++
			addPlace("definitions", group.Pos(), group.List[0].Text)
		}
		var text []string
		for _, c := range group.List {
			text = append(text, strings.Trim(c.Text, "/* "))
		}
		p.addWords(group.Pos(), strings.Join(text, " "), addPlace)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
			p.addWords(s.Pos(), strings.Trim(s.Value, "\"`"), addPlace)
		}
		return true
	})
	return nil
}

// addFunction counts the name of a private function. main and init do not count.
func (p *measured) addFunction(f *ast.FuncDecl, addPlace addPlaceFunc) {
	name := f.Name.Name
	isFixed := name == "_" || f.Recv == nil && (name == "main" || name == "init")
	if f.Name.IsExported() || isFixed {
		return
	}
	p.functions++
	if strings.ContainsFunc(name, func(r rune) bool { return r >= 'A' && r <= 'Z' || r == '_' }) {
		return
	}
	p.oneWord++
	addPlace("one_word", f.Name.Pos(), name)
	if isParticiple(name) {
		p.participles++
		addPlace("participles", f.Name.Pos(), name)
	}
	if slices.Contains(adverbs, name) {
		p.adverbs++
		addPlace("adverbs", f.Name.Pos(), name)
	}
}

// addWords counts the words of a comment or string.
func (p *measured) addWords(pos token.Pos, text string, addPlace addPlaceFunc) {
	p.words += len(strings.Fields(text))
	for _, found := range privateWord.FindAllString(text, -1) {
		p.privateWords++
		addPlace("private_words", pos, found)
	}
}

// Comments that define a name instead of describing it, words that this project uses in a sense of its
// own, and the forms of regular participles and of those with un-, as "unwritten".
var (
	definition  = regexp.MustCompile(`^// *\w+ (?:is|are) (?:what|how|who|where|that|those|as|whether|why|the one|one of)\b`)
	privateWord = regexp.MustCompile(`(?i)\b(?:asked|asks|told|tells|said|says|kept|held|nobody|somebody|whoever|apart|besides?|left out|whole|what comes|what came|under way|` +
		`goes on|so many|is none|leg|leaf|face|exam|crew|dialect|conduct|price|refus\w+|lies|behind|anew|here)\b`)
	regular = regexp.MustCompile(`^(?:[a-z]+ed|un\w+(?:en|ent))$`)
)

// isParticiple reports whether a word is a past participle. A few verbs look like one.
func isParticiple(word string) bool {
	if slices.Contains([]string{"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed"}, word) {
		return false
	}
	return regular.MatchString(word) || slices.Contains(irregular, word)
}

var irregular = []string{
	"begun", "bound", "broken", "built", "chosen", "done", "drawn", "driven", "fed", "found", "frozen", "given", "gone", "grown", "heard", "held",
	"kept", "known", "laid", "left", "lent", "lost", "made", "meant", "met", "paid", "said", "seen", "sent", "shown", "spent", "stood", "struck",
	"stuck", "swept", "taken", "told", "torn", "written",
}

var adverbs = []string{
	"about", "above", "after", "again", "against", "ahead", "alike", "alone", "also", "anew", "apart", "around", "aside", "astray", "at", "away",
	"before", "behind", "below", "beside", "besides", "between", "beyond", "during", "elsewhere", "exactly", "from", "here", "in", "inside", "into",
	"less", "more", "most", "much", "never", "none", "nothing", "now", "of", "off", "once", "only", "otherwise", "outside", "over", "past", "per",
	"plainly", "since", "some", "than", "then", "there", "through", "to", "together", "twice", "under", "until", "upward", "what", "when", "where",
	"which", "whole", "wholly", "with", "within", "without",
}
