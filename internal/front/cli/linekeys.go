package cli

import (
	"io"
	"time"
	"unicode/utf8"
)

// Keys without a character. Arrow keys and the like map to the control characters with the same function.
const (
	keyNone = -1 - iota // an unknown sequence
	keyDelete
	keyWordLeft
	keyWordRight
)

// Control characters.
const (
	keyTab       = '\t'
	keyEnter     = '\r'
	keyEscape    = '\x1b'
	keyBackspace = '\x7f'
)

// ctrl returns the control character of a letter.
func ctrl(letter rune) rune { return letter - '@' }

// finals maps the last character of an escape sequence to its key.
var finals = map[byte]rune{'A': ctrl('P'), 'B': ctrl('N'), 'C': ctrl('F'), 'D': ctrl('B'), 'H': ctrl('A'), 'F': ctrl('E')}

// tildes maps N in the sequence ESC [ N ~ to its key.
var tildes = map[string]rune{"1": ctrl('A'), "7": ctrl('A'), "4": ctrl('E'), "8": ctrl('E'), "3": keyDelete}

// decodeKey returns the key at the start of b and its length, or length 0 if b is incomplete.
func decodeKey(b []byte) (key rune, n int) {
	if len(b) == 0 || b[0] != keyEscape {
		if !utf8.FullRune(b) {
			return 0, 0
		}
		return utf8.DecodeRune(b)
	}
	if len(b) < 2 {
		return 0, 0
	}
	switch b[1] {
	case '[', 'O':
		return decodeSequence(b)
	case 'b':
		return keyWordLeft, 2
	case 'f':
		return keyWordRight, 2
	case keyBackspace:
		return ctrl('W'), 2
	}
	return keyEscape, 1
}

// decodeSequence decodes a sequence that begins with ESC [ or ESC O.
func decodeSequence(b []byte) (key rune, n int) {
	for n = 2; n < len(b); n++ {
		if b[n] >= '@' && b[n] <= '~' {
			break
		}
	}
	if n == len(b) {
		return 0, 0
	}
	key, known := finals[b[n]]
	switch parameters := string(b[2:n]); {
	case b[n] == '~':
		key, known = tildes[parameters]
	case parameters == "1;3" || parameters == "1;5": // with Alt or Ctrl
		switch key {
		case ctrl('B'):
			key = keyWordLeft
		case ctrl('F'):
			key = keyWordRight
		}
	}
	if !known {
		key = keyNone
	}
	return key, n + 1
}

const (
	// escapeTime is how long the reader waits for the rest of an escape sequence before it treats Esc as a key.
	escapeTime = 50 * time.Millisecond
	// sizeTime is the interval at which the prompt checks the terminal's size. Windows has no signal for it.
	sizeTime = 200 * time.Millisecond
)

// A keyReader reads keys. It reads only available input, so that the next command can read from the terminal.
type keyReader struct {
	r       io.Reader
	pending []byte
	reading bool
	chunks  chan chunk
}

// A chunk is the result of one Read.
type chunk struct {
	b   []byte
	err error
}

// next returns the next key. It calls idle before it waits and periodically while it waits.
func (k *keyReader) next(idle func()) (rune, error) {
	for {
		key, n := decodeKey(k.pending)
		wait := sizeTime
		if n == 0 && len(k.pending) > 0 && k.pending[0] == keyEscape {
			wait = escapeTime
		} else if n == 0 {
			idle()
		}
		if n == 0 {
			more, err := k.fill(wait)
			if err != nil {
				return 0, err
			}
			if more || len(k.pending) == 0 || k.pending[0] != keyEscape {
				continue
			}
			key, n = keyEscape, 1
		}
		k.pending = k.pending[n:]
		return key, nil
	}
}

// fill waits for input. It returns false on a timeout.
func (k *keyReader) fill(wait time.Duration) (bool, error) {
	if k.chunks == nil {
		k.chunks = make(chan chunk, 1)
	}
	if !k.reading {
		k.reading = true
		go func() {
			b := make([]byte, 256)
			n, err := k.r.Read(b)
			k.chunks <- chunk{b[:n], err}
		}()
	}
	select {
	case c := <-k.chunks:
		k.reading = false
		k.pending = append(k.pending, c.b...)
		if len(c.b) > 0 {
			return true, nil // Read returns its error again
		}
		return false, c.err
	case <-time.After(wait):
		return false, nil
	}
}
