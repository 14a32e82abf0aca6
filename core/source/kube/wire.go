package kube

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// message reads a message of protobuf while it arrives. All its fields must have a
// length, as messages, strings and bytes do.
type message struct {
	r    *bufio.Reader
	left int64 // bytes of the message that are not read
}

// next is the next field's number and length. The error is io.EOF after the last one.
func (m *message) next() (number protowire.Number, size int64, err error) {
	if m.left == 0 {
		return 0, 0, io.EOF
	}
	tag, err := binary.ReadUvarint(m)
	if err != nil {
		return 0, 0, unexpected(err)
	}
	number, kind := protowire.DecodeTag(tag)
	if number < 0 || kind != protowire.BytesType {
		return 0, 0, fmt.Errorf("field %d has type %d and not a length", number, kind)
	}
	length, err := binary.ReadUvarint(m)
	if err != nil {
		return 0, 0, unexpected(err)
	}
	if length > math.MaxInt64 || int64(length) > m.left {
		return 0, 0, fmt.Errorf("field %d is longer than what it is in", number)
	}
	return number, int64(length), nil
}

// ReadByte implements io.ByteReader.
func (m *message) ReadByte() (byte, error) {
	if m.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	m.left--
	return m.r.ReadByte()
}

// read puts the next bytes in buf, in place of what is there.
func (m *message) read(buf *bytes.Buffer, size int64) error {
	buf.Reset()
	n, err := io.CopyN(buf, m.r, size)
	m.left -= n
	return unexpected(err)
}

// within is the next bytes as a message, to be read before what follows.
func (m *message) within(size int64) *message {
	m.left -= size
	return &message{r: m.r, left: size}
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// kept names the fields of a message that are kept, and those of the messages in them;
// nil keeps a field as it is.
type kept map[protowire.Number]kept

// append adds to dst what is kept of msg.
func (k kept) append(dst, msg []byte) ([]byte, error) {
	for len(msg) > 0 {
		number, kind, tag := protowire.ConsumeTag(msg)
		if tag < 0 {
			return nil, protowire.ParseError(tag)
		}
		value := protowire.ConsumeFieldValue(number, kind, msg[tag:])
		if value < 0 {
			return nil, protowire.ParseError(value)
		}
		field := msg[:tag+value]
		msg = msg[tag+value:]
		inner, ok := k[number]
		if !ok {
			continue // not used
		}
		if inner == nil || kind != protowire.BytesType {
			dst = append(dst, field...)
			continue // used as a whole
		}
		body, _ := protowire.ConsumeBytes(field[tag:])
		dst = append(dst, field[:tag]...)
		at := len(dst)
		var err error
		if dst, err = inner.append(append(dst, make([]byte, lengthSize)...), body); err != nil {
			return nil, err
		}
		putLength(dst[at:])
	}
	return dst, nil
}

// lengthSize is how many bytes putLength uses.
const lengthSize = 5

// putLength writes the length of what follows it in b at the beginning of b, always
// as long, which decoders take.
func putLength(b []byte) {
	n := len(b) - lengthSize
	for i := range lengthSize {
		b[i] = byte(n>>(7*i)&0x7f) | 0x80
	}
	b[lengthSize-1] &= 0x7f
}
