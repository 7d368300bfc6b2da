import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { lintConfig } from '../../../ci/lint.js'
import { OneOf, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { inTurn } from './planning/lint-turns.js'

/** Characters. Everybody may send a file, and parsing a larger one would delay other requests. */
const LONGEST = 65_536

const Lint = Type.Object(
  {
    status: OneOf(['valid', 'invalid'], 'LintStatus', 'whether the file is valid'),
    errors: Type.Array(Type.String(), { description: 'the errors of the file: one text with a line for each error' })
  },
  { title: 'Lint', description: 'The result of a check of a CI file.' }
)

export const lintRoutes: FastifyPluginAsyncTypebox = async app => {
  app.post(
    '/ci/lint',
    {
      config: { public: true },
      schema: {
        tags: ['Pipelines'],
        operationId: 'lintCiFile',
        summary: 'Check a CI file',
        description: `Creates nothing. \`gitstead ci lint FILE\` also checks files with more than ${LONGEST} characters, and files that include other files.`,
        body: Type.Object(
          { content: Text('the text of the CI file', { maxLength: LONGEST }) },
          { title: 'LintBody', description: 'The CI file to check.' }
        ),
        response: { 200: Lint }
      }
    },
    async ({ body }, reply) => {
      const { status, errors } = await inTurn(() => lintConfig(body.content))
      return reply.code(200).send({ status, errors: errors.length === 0 ? [] : [errors.join('\n')] })
    }
  )
}
