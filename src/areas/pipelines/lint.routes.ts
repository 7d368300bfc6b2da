import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { lintConfig } from '../../ci/lint.js'
import { OneOf, Text } from '../../lib/schema.js'
import { Type } from '../../lib/type.js'
import { inTurn } from './planning/lint-turns.js'

/** Characters. Everybody may ask, and a parser of a larger file would hold up the requests of others. */
const LONGEST = 65_536

const Lint = Type.Object(
  {
    status: OneOf(['valid', 'invalid'], 'LintStatus', 'whether the file can make a pipeline'),
    errors: Type.Array(Type.String(), { description: 'what is wrong with it: one text, with a line for each fault' })
  },
  { title: 'Lint', description: 'What a check of a CI file has found.' }
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
        description: `Creates nothing. \`gitstead ci lint FILE\` also checks files of more than ${LONGEST} characters, and those that include others.`,
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
