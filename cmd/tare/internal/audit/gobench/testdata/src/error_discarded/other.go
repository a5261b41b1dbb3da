package error_discarded

import "errors"

// parseSetting parses a line of a file of settings.
func parseSetting(text []byte) (string, error) {
	if len(text) == 0 || text[0] == '#' {
		return "", errors.New("no setting")
	}
	return string(text), nil
}

// parseLine parses a line of another file.
func parseLine(text []byte) (string, error) {
	if len(text) < 3 {
		return "", errors.New("no line")
	}
	return string(text[1:]), nil
}
