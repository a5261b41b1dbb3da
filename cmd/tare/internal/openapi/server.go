package openapi

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// Bounds of work that a few bytes of a document can repeat.
const (
	maxBase      = 1024    // bytes of a server's path, which begins each route
	maxServers   = 1000    // servers that are compared with the first
	maxVariables = 8 << 10 // bytes of the values of a server's variables
)

// base is the path of a server, or why there is no server.
type base struct {
	path string // "" for the root
	why  string // "" if there is a path
	at   yamlfile.Position
}

// basePath returns the path of the first server of n, which is the document, a path item or an operation.
// If n lists no servers, it returns outer, the path around n.
func (d *Document) basePath(n *node, outer base) base {
	if d.swagger && n != d.root {
		return outer // in OpenAPI 2 only the document has a path, its basePath
	}
	name := "servers"
	if d.swagger {
		name = "basePath"
	}
	f, ok := n.find(name)
	if !ok || f.value.isNull() {
		return outer
	}
	if isEmptyList := f.value.kind == list && len(f.value.fields) == 0; isEmptyList && !d.swagger {
		return outer
	}
	b, ok := d.bases[f.value]
	if !ok {
		b = base{at: f.at}
		switch {
		case d.swagger && isCollection(f.value):
			b.why = fmt.Sprintf("basePath is %s, not text", f.value.kind)
		case d.swagger:
			b.path, b.why = resolvePath(f.value.text)
		case f.value.kind != list:
			b.why = fmt.Sprintf("servers is %s, not a list", f.value.kind)
		default:
			b.path, b.why = d.firstServer(f.value.fields)
		}
		if len(b.path) > maxBase {
			d.reader.Fail(f.at, fmt.Sprintf("the path of the server has more than %d bytes", maxBase), "write a shorter one")
		}
		d.bases[f.value] = b
	}
	return b
}

// firstServer returns the path of the first server, or why it has none. It notes different paths of
// others.
func (d *Document) firstServer(servers []field) (first, why string) {
	for i, f := range servers[:min(len(servers), maxServers)] {
		path, problem := pathOfServer(f.value)
		if i == 0 {
			if first = path; problem != "" {
				return "", problem
			}
		} else if problem == "" && path != first {
			d.Notes = append(d.Notes, fmt.Sprintf("%s:%d:%d: this server has its paths below %q; those of the first one, below %q, are measured", d.Name, f.value.at.Line, f.value.at.Col, path+"/", first+"/"))
			break
		}
	}
	return first, ""
}

func pathOfServer(server *node) (path, why string) {
	switch url, ok := server.find("url"); {
	case server.kind != mapping:
		return "", fmt.Sprintf("its server is %s, not a mapping with a url", server.kind)
	case !ok || isCollection(url.value):
		return "", "its server has no url"
	}
	url := fillVariables(server)
	rest, isAbsolute := cutHost(url)
	first, _, _ := strings.Cut(rest, "/")
	if !isAbsolute && hostName.MatchString(first) {
		return "", fmt.Sprintf("its server %q is a host or a path: write https://%s or /%s", format.Line(url, 80), format.Line(first, 80), format.Line(first, 80))
	}
	return resolvePath(rest)
}

// hostName matches a text such as localhost, api.example.com or {region}.example.com. In a relative
// URL, it is probably a mistake.
var hostName = lazyregexp.New(`(?i)^(?:localhost|[a-z0-9_{}-]+(?:\.[a-z0-9_{}-]+)*\.[a-z]{2,})$`)

// fillVariables returns the URL of a server, with each variable, {name}, replaced by its default, up to
// maxVariables bytes.
func fillVariables(server *node) string {
	variables, added := server.get("variables"), 0 // added: bytes of the defaults so far
	return variable.ReplaceAllStringFunc(server.get("url").scalar(), func(name string) string {
		value := variables.get(name[1 : len(name)-1]).get("default")
		if value == nil || added+len(value.text) > maxVariables {
			return name
		}
		added += len(value.text)
		return value.text
	})
}

var variable = lazyregexp.New(`\{[^{}]*\}`)

// cutHost returns a URL without scheme and host, query and fragment. The URL may have braces, which
// package url rejects.
func cutHost(url string) (path string, hasHost bool) {
	url, _, _ = strings.Cut(url, "?")
	url, _, _ = strings.Cut(url, "#")
	scheme, rest, ok := strings.Cut(url, "//")
	isScheme := scheme == "" || strings.HasSuffix(scheme, ":") && !strings.Contains(scheme, "/") // "" as in //host/path
	if !ok || !isScheme {
		return url, false
	}
	_, path, _ = strings.Cut(rest, "/")
	return "/" + path, true
}

// resolvePath returns a prefix of routes: /v1, or "" for the root (RFC 3986, section 5.2.4).
func resolvePath(path string) (resolved, why string) {
	if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ":") {
		return "", fmt.Sprintf("its server %q is neither a path nor a URL such as https://host/v1", format.Line(path, 80))
	}
	var segments []string
	for s := range strings.SplitSeq(path, "/") {
		switch {
		case s == "..":
			segments = segments[:max(len(segments)-1, 0)]
		case s != ".":
			segments = append(segments, s)
		}
	}
	if path = strings.Trim(strings.Join(segments, "/"), "/"); path == "" {
		return "", ""
	}
	return "/" + path, ""
}
