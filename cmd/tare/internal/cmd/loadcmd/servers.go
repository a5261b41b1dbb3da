package loadcmd

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/loadstudy"
)

// This file parses the servers that a user names. For example, "./api -port $PORT" is a command
// whose port tare chooses.

// loadServer is one server, named by a URL or by the command line that starts it.
type loadServer struct {
	id      string           // name in output: host or program, and a number if another has it
	url     string           // contains $PORT if the port is chosen later
	command []string         // words, possibly with $PORT; nil if the server is running
	target  loadstudy.Target // parsed url, with port 1 in place of $PORT
}

// portVariable represents the port in command lines and URLs.
const portVariable = "$PORT"

// parseServers returns the servers of the arguments and --start. One command with one URL is one
// server.
func parseServers(args, start []string) ([]loadServer, error) {
	path := "/"
	var urls []string
	for _, arg := range args {
		isPath := strings.HasPrefix(arg, "/")
		switch {
		case len(start) > 0 && !isPath && !isAddress(arg):
			// The argument is probably a word of the command, without quotes around the command.
			return nil, cmdenv.Usage(fmt.Sprintf("%q is neither a path, which begins with a slash, nor a URL", arg), "a command of several words is quoted: --start 'serve $PORT' /path")
		case !isPath:
			urls = append(urls, arg)
		case len(start) == 0:
			return nil, cmdenv.Usage(fmt.Sprintf("%q is a path without a server", arg), "e.g. http://127.0.0.1:8080"+arg+", or start one with --start")
		case path != "/":
			return nil, cmdenv.Usage("more than one path", "--mix requests several: --mix 'GET /a=3' --mix 'GET /b=1'")
		default:
			path = arg
		}
	}
	if len(start) == 0 && len(urls) == 0 {
		return nil, cmdenv.Usage("tare load needs a URL", "e.g. tare load http://127.0.0.1:8080/")
	}
	startURL := "http://127.0.0.1:" + portVariable + path // address of the servers that --start starts
	if len(start) == 1 && len(urls) == 1 && path == "/" {
		startURL, urls = urls[0], nil
	}
	var list []loadServer
	for _, text := range start {
		command, err := splitWords(text)
		if err != nil {
			return nil, err
		}
		list = append(list, loadServer{id: filepath.Base(command[0]), url: startURL, command: command})
	}
	for _, url := range urls {
		if strings.Contains(url, portVariable) {
			return nil, cmdenv.Usage(fmt.Sprintf("%q: $PORT is the port of a --start, and there is not exactly one", url), "write the port")
		}
		list = append(list, loadServer{url: url})
	}
	for i := range list {
		s := &list[i]
		var err error
		if s.target, err = loadstudy.ParseTarget(strings.ReplaceAll(s.url, portVariable, "1")); err != nil {
			return nil, err
		}
		if s.id == "" {
			s.id = s.target.Host
		}
	}
	return numberDuplicates(list), nil
}

func isAddress(arg string) bool {
	host, _, _ := strings.Cut(arg, "/")
	_, port, err := net.SplitHostPort(host)
	return strings.Contains(arg, "://") || err == nil && port != ""
}

// numberDuplicates appends -2, -3 and so on to repeated server ids.
func numberDuplicates(list []loadServer) []loadServer {
	seen := map[string]int{}
	for i := range list {
		id := list[i].id
		if seen[id]++; seen[id] > 1 {
			list[i].id = fmt.Sprintf("%s-%d", id, seen[id])
		}
	}
	return list
}

// beginsWithPort reports whether text begins with $PORT, the only variable of command lines.
func beginsWithPort(text string) bool {
	return strings.HasPrefix(text, portVariable) || strings.HasPrefix(text, "${PORT}")
}

// splitWords splits a command line into words like a shell, with quotes and backslashes.
func splitWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote := byte(0) // the open quote, or 0
	inWord := false  // also true after "", an empty word
	for i := 0; i < len(text); i++ {
		c := text[i]
		literalInSingle := quote == '\'' && c != '\''
		literalInDouble := quote == '"' && c != '"' && c != '\\'
		switch {
		case literalInSingle, literalInDouble:
			word.WriteByte(c)
		case c == '\\' && i+1 == len(text):
			return nil, cmdenv.Usage(fmt.Sprintf("--start %q ends with a backslash", text), "")
		case c == '\\':
			i++
			// Within double quotes a backslash is a character, except before ", \, $ and `.
			if quote == '"' && strings.IndexByte("\"\\$`", text[i]) < 0 {
				word.WriteByte('\\')
			}
			word.WriteByte(text[i])
			inWord = true
		case quote != 0: // c is the closing quote
			quote = 0
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		case strings.IndexByte("|&;<>`", c) >= 0, c == '$' && !beginsWithPort(text[i:]):
			return nil, cmdenv.Usage(fmt.Sprintf("--start %q: %q means something to a shell only", text, string(c)), "quote it, or let a shell do it: --start \"sh -c '…'\"")
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	switch {
	case quote != 0:
		return nil, cmdenv.Usage(fmt.Sprintf("--start %q: a quote is not closed", text), "")
	case inWord:
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, cmdenv.Usage("--start without a command", "e.g. --start './server -port $PORT'")
	}
	return words, nil
}
