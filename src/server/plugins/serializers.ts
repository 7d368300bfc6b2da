// Compiles the serializers of a route when the route first answers. All of them together take half a second of processor
// time at the start and 20 MB, and most servers never use most of them.
import { createRequire } from 'node:module'
import type { FastifyServerOptions } from 'fastify'

type Write = (record: unknown) => string
type Compile = (of: { readonly schema: unknown }) => Write
type MakeCompiler = (schemas: unknown, options: unknown) => Compile

/** The default compiler of Fastify. It is resolved from Fastify, so that Fastify's version of it is loaded. */
function fastifysOwn(): MakeCompiler {
  const require = createRequire(createRequire(import.meta.url).resolve('fastify'))
  return (
    require('@fastify/fast-json-stringify-compiler') as { SerializerSelector(): MakeCompiler }
  ).SerializerSelector()
}

type SchemaController = NonNullable<FastifyServerOptions['schemaController']>

/** For Fastify's option of this name: late serializers, and the validators that `compileInput` makes. */
export const lateCompilers = (compileInput: unknown): SchemaController => ({
  compilersFactory: { buildSerializer: lateSerializers, buildValidator: () => compileInput } as NonNullable<
    SchemaController['compilersFactory']
  >
})

function lateSerializers(schemas: unknown, options: unknown): Compile {
  let compile: Compile | undefined
  return of => {
    let write: Write | undefined
    return record => {
      compile ??= fastifysOwn()(schemas, options)
      write ??= compile(of)
      return write(record)
    }
  }
}
