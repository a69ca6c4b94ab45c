package metadata

import "strconv"

// Names in the style of the IL assembler (ECMA-335 II.7): "class [System.Runtime]System.Exception", "valuetype
// [*]Ns.Outer/Inner<int32>&". Types of the module itself have the scope "*", as in SOS.

// FormatTypeIL returns a type in the style of the IL assembler, with the names of md.
func (md *Metadata) FormatTypeIL(t *TypeSig) string { return string(md.appendTypeIL(nil, t)) }

// FormatParamsIL returns the parameters of a method in the style of the IL assembler, in parentheses.
func (md *Metadata) FormatParamsIL(m *MethodSig) string { return string(md.appendParamsIL(nil, m)) }

func (md *Metadata) appendParamsIL(dst []byte, m *MethodSig) []byte {
	if m == nil {
		return append(dst, "()"...)
	}
	dst = append(dst, '(')
	for i := range m.Params {
		if i > 0 {
			dst = append(dst, ',')
		}
		if i == m.Sentinel {
			dst = append(dst, "...,"...)
		}
		dst = md.appendTypeIL(dst, &m.Params[i])
	}
	return append(dst, ')')
}

func (md *Metadata) appendTypeIL(dst []byte, t *TypeSig) []byte {
	if t == nil {
		return dst
	}
	switch t.Kind {
	case ElementClass:
		return md.appendScopedName(append(dst, "class "...), t.Token)
	case ElementValueType:
		return md.appendScopedName(append(dst, "valuetype "...), t.Token)
	case ElementVar:
		return strconv.AppendUint(append(dst, '!'), uint64(t.Number), 10)
	case ElementMVar:
		return strconv.AppendUint(append(dst, "!!"...), uint64(t.Number), 10)
	case ElementByRef:
		return append(md.appendTypeIL(dst, t.Elem), '&')
	case ElementPtr:
		return append(md.appendTypeIL(dst, t.Elem), '*')
	case ElementPinned:
		return append(md.appendTypeIL(dst, t.Elem), " pinned"...)
	case ElementSZArray:
		return append(md.appendTypeIL(dst, t.Elem), "[]"...)
	case ElementArray:
		return appendShapeIL(md.appendTypeIL(dst, t.Elem), t.Shape)
	case ElementGenericInst:
		return md.appendArgsIL(md.appendTypeIL(dst, t.Elem), t.Args)
	case ElementFnPtr:
		dst = append(md.appendTypeIL(append(dst, "method "...), &t.Method.Return), " *"...)
		return md.appendParamsIL(dst, t.Method)
	case ElementCModReqd:
		return append(md.appendScopedName(append(md.appendTypeIL(dst, t.Elem), " modreq("...), t.Token), ')')
	case ElementCModOpt:
		return append(md.appendScopedName(append(md.appendTypeIL(dst, t.Elem), " modopt("...), t.Token), ')')
	}
	return append(dst, ilName(t.Kind)...)
}

// FormatArgumentsIL returns generic arguments in the style of the IL assembler: "<int32,string>".
func (md *Metadata) FormatArgumentsIL(args []TypeSig) string {
	return string(md.appendArgsIL(nil, args))
}

func (md *Metadata) appendArgsIL(dst []byte, args []TypeSig) []byte {
	dst = append(dst, '<')
	for i := range args {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = md.appendTypeIL(dst, &args[i])
	}
	return append(dst, '>')
}

// appendShapeIL appends the bounds of an array (ECMA-335 II.14.2): "[0...,]".
func appendShapeIL(dst []byte, s *ArrayShape) []byte {
	dst = append(dst, '[')
	for i := range s.Rank {
		if i > 0 {
			dst = append(dst, ',')
		}
		if int(i) >= len(s.LowerBounds) {
			continue
		}
		low := int64(s.LowerBounds[i])
		dst = append(strconv.AppendInt(dst, low, 10), "..."...)
		if int(i) < len(s.Sizes) {
			dst = strconv.AppendInt(dst, low+int64(s.Sizes[i])-1, 10)
		}
	}
	return append(dst, ']')
}

// appendScopedName appends "[scope]Ns.Outer/Inner" of a TypeDef or TypeRef. It appends a question mark for an
// unreadable part, and for a TypeSpec: no compiler uses one here, and TypeSpecs could nest without end.
func (md *Metadata) appendScopedName(dst []byte, t Token) []byte {
	scope := "?"
	var full string
	var err error
	switch t.Table() {
	case TableTypeDef:
		scope = "*"
		full, err = md.TypeDefFullName(t.Row())
	case TableTypeRef:
		scope = md.scopeName(t.Row())
		full, err = md.TypeRefFullName(t.Row())
	}
	if err != nil || full == "" {
		full = "?"
	}
	dst = append(append(append(dst, '['), scope...), ']')
	start := len(dst)
	dst = append(dst, full...)
	for i := start; i < len(dst); i++ {
		if dst[i] == '+' {
			dst[i] = '/'
		}
	}
	return dst
}

// scopeName returns the name of the assembly or module that defines a referenced type, "*" for the module
// itself.
func (md *Metadata) scopeName(rid uint32) string {
	scope, err := md.TypeRefScope(rid)
	if err != nil {
		return "?"
	}
	var name StringIndex
	switch scope.Table() {
	case TableModule:
		return "*"
	case TableAssemblyRef:
		row, rowErr := md.AssemblyRef(scope.Row())
		name, err = row.Name, rowErr
	case TableModuleRef:
		row, rowErr := md.ModuleRef(scope.Row())
		name, err = row.Name, rowErr
	}
	s, strErr := md.String(name)
	if err != nil || strErr != nil || s == "" {
		return "?"
	}
	return s
}

// ilName returns the assembler's keyword for a primitive type.
func ilName(e ElementType) string {
	switch e {
	case ElementVoid:
		return "void"
	case ElementBoolean:
		return "bool"
	case ElementChar:
		return "char"
	case ElementI1:
		return "int8"
	case ElementU1:
		return "uint8"
	case ElementI2:
		return "int16"
	case ElementU2:
		return "uint16"
	case ElementI4:
		return "int32"
	case ElementU4:
		return "uint32"
	case ElementI8:
		return "int64"
	case ElementU8:
		return "uint64"
	case ElementR4:
		return "float32"
	case ElementR8:
		return "float64"
	case ElementString:
		return "string"
	case ElementObject:
		return "object"
	case ElementTypedByRef:
		return "typedref"
	case ElementI:
		return "native int"
	case ElementU:
		return "native uint"
	}
	return unknownType
}
