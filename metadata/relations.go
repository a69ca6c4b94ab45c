package metadata

// Fields returns the fields of a type, by TypeDef rid.
func (md *Metadata) Fields(typeDef uint32) (RowRange, error) {
	return md.list(TableTypeDef, typeDef, 4)
}

// Methods returns the methods of a type, by TypeDef rid.
func (md *Metadata) Methods(typeDef uint32) (RowRange, error) {
	return md.list(TableTypeDef, typeDef, 5)
}

// Params returns the parameter rows of a method, by MethodDef rid. A parameter without name, flags or default has none.
func (md *Metadata) Params(method uint32) (RowRange, error) {
	return md.list(TableMethodDef, method, 5)
}

// FieldOwner returns the rid of the TypeDef that has the field.
func (md *Metadata) FieldOwner(field uint32) (uint32, error) {
	return md.ownerOf(TableTypeDef, 4, field)
}

// MethodOwner returns the rid of the TypeDef that has the method.
func (md *Metadata) MethodOwner(method uint32) (uint32, error) {
	return md.ownerOf(TableTypeDef, 5, method)
}

// EnclosingClass returns the rid of the TypeDef that encloses a type; 0 when the type is not nested.
func (md *Metadata) EnclosingClass(typeDef uint32) (uint32, error) {
	rows, err := md.byKey(TableNestedClass, 0, typeDef)
	row, _, err := only(rows, err, md.NestedClass)
	return row.Enclosing.Row(), err
}

// NestedClasses returns the NestedClass rows of the types that a type encloses.
func (md *Metadata) NestedClasses(typeDef uint32) (RowRange, error) {
	return md.byKey(TableNestedClass, 1, typeDef)
}

// GenericParams returns the generic parameters of a TypeDef or MethodDef.
func (md *Metadata) GenericParams(owner Token) (RowRange, error) {
	return md.byToken(TableGenericParam, 2, owner)
}

// InterfaceImpls returns the InterfaceImpl rows of a type, by TypeDef rid.
func (md *Metadata) InterfaceImpls(typeDef uint32) (RowRange, error) {
	return md.byKey(TableInterfaceImpl, 0, typeDef)
}

// CustomAttributes returns the custom attributes of a token.
func (md *Metadata) CustomAttributes(parent Token) (RowRange, error) {
	return md.byToken(TableCustomAttribute, 0, parent)
}

// LayoutOf returns the ClassLayout row of a type. It reports false when the type has none.
func (md *Metadata) LayoutOf(typeDef uint32) (ClassLayoutRow, bool, error) {
	rows, err := md.byKey(TableClassLayout, 2, typeDef)
	return only(rows, err, md.ClassLayout)
}

// OffsetOf returns the explicit offset of a field in bytes. It reports false when the field has none.
func (md *Metadata) OffsetOf(field uint32) (uint32, bool, error) {
	rows, err := md.byKey(TableFieldLayout, 1, field)
	row, ok, err := only(rows, err, md.FieldLayout)
	return row.Offset, ok, err
}

// RVAOf returns the RVA of a field's initial value. It reports false when the field has none.
func (md *Metadata) RVAOf(field uint32) (uint32, bool, error) {
	rows, err := md.byKey(TableFieldRVA, 1, field)
	row, ok, err := only(rows, err, md.FieldRVA)
	return row.RVA, ok, err
}

// ImplMapOf returns the native function that a MethodDef or Field is bound to. It reports false when there is none.
func (md *Metadata) ImplMapOf(member Token) (ImplMapRow, bool, error) {
	rows, err := md.byToken(TableImplMap, 1, member)
	return only(rows, err, md.ImplMap)
}

// LocalScopes returns the scopes of a method in a portable PDB, outermost first, by MethodDef rid.
func (md *Metadata) LocalScopes(method uint32) (RowRange, error) {
	return md.byKey(TableLocalScope, 0, method)
}

// LocalVariables returns the variables of a LocalScope row.
func (md *Metadata) LocalVariables(scope uint32) (RowRange, error) {
	return md.list(TableLocalScope, scope, 2)
}
