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
	rid, ok, err := md.one(TableNestedClass, 0, typeDef)
	if !ok {
		return 0, err
	}
	row, err := md.NestedClass(rid)
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

// MethodImpls returns the explicit overrides of a type, by TypeDef rid.
func (md *Metadata) MethodImpls(typeDef uint32) (RowRange, error) {
	return md.byKey(TableMethodImpl, 0, typeDef)
}

// Events returns the events of a type, by TypeDef rid.
func (md *Metadata) Events(typeDef uint32) (RowRange, error) {
	rid, ok, err := md.one(TableEventMap, 0, typeDef)
	if !ok {
		return RowRange{table: TableEvent}, err
	}
	return md.list(TableEventMap, rid, 1)
}

// Properties returns the properties of a type, by TypeDef rid.
func (md *Metadata) Properties(typeDef uint32) (RowRange, error) {
	rid, ok, err := md.one(TablePropertyMap, 0, typeDef)
	if !ok {
		return RowRange{table: TableProperty}, err
	}
	return md.list(TablePropertyMap, rid, 1)
}

// EventOwner returns the rid of the TypeDef that has the event.
func (md *Metadata) EventOwner(event uint32) (uint32, error) {
	rid, err := md.ownerOf(TableEventMap, 1, event)
	if err != nil {
		return 0, err
	}
	row, err := md.EventMap(rid)
	return row.Parent.Row(), err
}

// PropertyOwner returns the rid of the TypeDef that has the property.
func (md *Metadata) PropertyOwner(property uint32) (uint32, error) {
	rid, err := md.ownerOf(TablePropertyMap, 1, property)
	if err != nil {
		return 0, err
	}
	row, err := md.PropertyMap(rid)
	return row.Parent.Row(), err
}

// Accessors returns the MethodSemantics rows of a Property or Event.
func (md *Metadata) Accessors(association Token) (RowRange, error) {
	return md.byToken(TableMethodSemantics, 2, association)
}

// SemanticsOf returns the MethodSemantics rows of a method, by MethodDef rid.
func (md *Metadata) SemanticsOf(method uint32) (RowRange, error) {
	return md.byKey(TableMethodSemantics, 1, method)
}

// LayoutOf returns the ClassLayout row of a type. It reports false when the type has none.
func (md *Metadata) LayoutOf(typeDef uint32) (ClassLayoutRow, bool, error) {
	rid, ok, err := md.one(TableClassLayout, 2, typeDef)
	if !ok {
		return ClassLayoutRow{}, false, err
	}
	row, err := md.ClassLayout(rid)
	return row, err == nil, err
}

// OffsetOf returns the explicit offset of a field in bytes. It reports false when the field has none.
func (md *Metadata) OffsetOf(field uint32) (uint32, bool, error) {
	rid, ok, err := md.one(TableFieldLayout, 1, field)
	if !ok {
		return 0, false, err
	}
	row, err := md.FieldLayout(rid)
	return row.Offset, err == nil, err
}

// RVAOf returns the RVA of a field's initial value. It reports false when the field has none.
func (md *Metadata) RVAOf(field uint32) (uint32, bool, error) {
	rid, ok, err := md.one(TableFieldRVA, 1, field)
	if !ok {
		return 0, false, err
	}
	row, err := md.FieldRVA(rid)
	return row.RVA, err == nil, err
}

// ImplMapOf returns the native function that a MethodDef or Field is bound to. It reports false when there is none.
func (md *Metadata) ImplMapOf(member Token) (ImplMapRow, bool, error) {
	rows, err := md.byToken(TableImplMap, 1, member)
	if err != nil || rows.Len() == 0 {
		return ImplMapRow{}, false, err
	}
	rid, err := rows.RID(0)
	if err != nil {
		return ImplMapRow{}, false, err
	}
	row, err := md.ImplMap(rid)
	return row, err == nil, err
}

// LocalScopes returns the scopes of a method in a portable PDB, outermost first, by MethodDef rid.
func (md *Metadata) LocalScopes(method uint32) (RowRange, error) {
	return md.byKey(TableLocalScope, 0, method)
}

// LocalVariables returns the variables of a LocalScope row.
func (md *Metadata) LocalVariables(scope uint32) (RowRange, error) {
	return md.list(TableLocalScope, scope, 2)
}

// LocalConstants returns the constants of a LocalScope row.
func (md *Metadata) LocalConstants(scope uint32) (RowRange, error) {
	return md.list(TableLocalScope, scope, 3)
}

// CustomDebugInfos returns the CustomDebugInformation rows of a token.
func (md *Metadata) CustomDebugInfos(parent Token) (RowRange, error) {
	return md.byToken(TableCustomDebugInformation, 0, parent)
}
