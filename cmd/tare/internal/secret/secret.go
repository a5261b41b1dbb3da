// Package secret holds the one rule for which names have secrets as their values: of
// headers, of query parameters, and of fields of a form or a JSON document. It removes
// those values from recorded requests. docs/security.md states the rule.
package secret

import (
	"slices"
	"strings"
	"unicode"
)

// parts are secret wherever they occur in a name, of which case and punctuation do
// not count: X-Amz-Signature, clientSecret, new_password.
func parts() []string {
	return []string{
		"authorization", "password", "passwd", "passphrase", "passcode", "secret", "credential", "signature", "cookie",
		"apikey", "accesskey", "privatekey", "authkey", "appkey", "subscriptionkey", "sharedkey", "sessionid", "sessid", "assertion", "samlresponse",
	}
}

// words are secret as a word of a name, between punctuation or by capitals: X-Auth-Key,
// csrf_middleware, userPwd.
func words() []string {
	return []string{"auth", "bearer", "csrf", "jwt", "oauth", "otp", "pass", "pwd", "session", "sig", "sid", "totp", "xsrf"}
}

// cursors are names that end with token and are positions in a list.
func cursors() []string { return []string{"pagetoken", "nexttoken", "continuationtoken", "synctoken"} }

// IsName reports whether the value of a header, a query parameter or a field of that
// name is held back as a secret.
func IsName(name string) bool {
	flat := strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
	switch {
	case flat == "key", flat == "pin":
		return true
	case strings.HasSuffix(flat, "token"):
		return !slices.ContainsFunc(cursors(), func(c string) bool { return strings.HasSuffix(flat, c) })
	case slices.ContainsFunc(parts(), func(part string) bool { return strings.Contains(flat, part) }):
		return true
	}
	return slices.ContainsFunc(splitWords(name), func(word string) bool { return slices.Contains(words(), word) })
}

// splitWords returns the words of a name in lower case.
func splitWords(name string) []string {
	var list []string
	start := true
	last := rune(0)
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			start = true
		case start, unicode.IsUpper(r) && unicode.IsLower(last):
			list, start = append(list, string(unicode.ToLower(r))), false
		default:
			list[len(list)-1] += string(unicode.ToLower(r))
		}
		last = r
	}
	return list
}
