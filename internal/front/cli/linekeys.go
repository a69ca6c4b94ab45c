package cli

import (
	"io"
	"time"
	"unicode/utf8"
)

// The keys that have no character of their own. Arrows and the like are the control characters that do the same.
const (
	keyNone = -1 - iota // a sequence without a meaning here
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

// ctrl returns the character of a letter typed with Ctrl.
func ctrl(letter rune) rune { return letter - '@' }

// finals are the keys of escape sequences by their last character.
var finals = map[byte]rune{'A': ctrl('P'), 'B': ctrl('N'), 'C': ctrl('F'), 'D': ctrl('B'), 'H': ctrl('A'), 'F': ctrl('E')}

// tildes are the keys of the sequences ESC [ N ~.
var tildes = map[string]rune{"1": ctrl('A'), "7": ctrl('A'), "4": ctrl('E'), "8": ctrl('E'), "3": keyDelete}

// decodeKey returns the key that b begins with and its length, which is 0 if the rest is still to come.
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

// decodeSequence decodes the sequences that begin with ESC [ or ESC O.
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
	// escapeTime is how long the rest of an escape sequence may take. Esc alone has none.
	escapeTime = 50 * time.Millisecond
	// sizeTime is how often the prompt looks whether the terminal has another size. Windows has no signal for that.
	sizeTime = 200 * time.Millisecond
)

// A keyReader reads keys. It reads ahead no further than the input has it, so that a command that runs after a line can
// read from the terminal.
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

// next returns the next key. It calls idle before it waits and now and then while it does.
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

// fill waits for input. It reports false if there is none in time.
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
			return true, nil // Read returns its error once more
		}
		return false, c.err
	case <-time.After(wait):
		return false, nil
	}
}
