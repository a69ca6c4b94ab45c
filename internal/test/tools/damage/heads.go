package main

import (
	"bytes"
	"encoding/binary"
)

// imageHeads returns places in the tables of an image or of a portable PDB: in its headers, and in
// the metadata's.
func imageHeads(b []byte) []int64 {
	heads := []int64{0, 64, 128, 256, 512}
	if len(b) > 0x40 && string(b[:2]) == "MZ" {
		pe := int64(binary.LittleEndian.Uint32(b[0x3c:]))
		for i := range int64(16) {
			heads = append(heads, pe+i*32)
		}
	}
	if len(b) > 0x40 && string(b[:4]) == "\x7fELF" {
		sections := int64(binary.LittleEndian.Uint64(b[0x28:]))
		for i := range int64(32) {
			heads = append(heads, sections+i*64)
		}
	}
	for at := 0; ; {
		i := bytes.Index(b[at:], []byte("BSJB"))
		if i < 0 {
			return heads
		}
		at += i
		for j := range int64(32) {
			heads = append(heads, int64(at)+j*16)
		}
		if s := bytes.Index(b[at:], []byte("#~\x00\x00")); s >= 8 {
			tables := int64(at) + int64(binary.LittleEndian.Uint32(b[at+s-8:]))
			for j := range int64(24) {
				heads = append(heads, tables+j*64)
			}
		}
		at += 4
	}
}
