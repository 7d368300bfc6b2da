// Not specified: these routes prepare migrations and work on them, as the commands do.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '../../../lib/type.js'
import { findResult, pageMigrations, requireMigration } from '../runs/migrations.js'
import { pagePlaceholders } from '../runs/placeholders.js'
import {
  AssignBody,
  AssignConfirmedBody,
  MigrationListQuery,
  MigrationParams,
  NewMigration,
  PlaceholderParams,
  PlanBody,
  RunBody,
  VerifyBody
} from './migrations.schema.js'
import {
  Migration,
  MigrationWithResult,
  Placeholder,
  viewMigration,
  viewMigrationWithResult,
  viewPlaceholder
} from './migrations.view.js'
import { assign, cancelWork, createMigration, deleteMigration, requestWork } from './requests.js'

const config = { can: 'migration.administer' as const }

const WORKS = [
  { work: 'plan', summary: 'Plan a migration', body: PlanBody },
  { work: 'run', summary: 'Run a migration', body: RunBody },
  { work: 'verify', summary: 'Verify a migration', body: VerifyBody },
  {
    work: 'assign',
    summary: 'Give placeholders to the people who have confirmed their addresses',
    body: AssignConfirmedBody
  }
] as const

export const migrationRoutes: FastifyPluginAsyncTypebox = async app => {
  const tags = ['Migrations']
  const one = { tags, params: MigrationParams }
  const later = { ...one, response: { 202: Migration }, errors: [409 as const] }
  const asksWhile =
    'A worker does it: read the migration until `ended_at` has a time. 409 while a request or a command works on it.'

  app.get(
    '/migrations',
    {
      config,
      schema: {
        tags,
        summary: 'List migrations',
        description: 'By name.',
        querystring: MigrationListQuery,
        response: { 200: Type.Array(Migration) }
      }
    },
    async ({ query }, reply) => reply.page(await pageMigrations(query), viewMigration)
  )

  app.post(
    '/migrations',
    {
      config,
      schema: {
        tags,
        summary: 'Prepare a migration',
        description: 'Stores the address of the forge and a token for it, which is encrypted. Nothing is read yet.',
        body: NewMigration,
        response: { 201: Migration },
        errors: [409]
      }
    },
    async ({ body, origin }, reply) => reply.code(201).send(viewMigration(await createMigration(body, origin)))
  )

  app.get(
    '/migrations/:id',
    {
      config,
      schema: { ...one, summary: 'Get a migration with its last result', response: { 200: MigrationWithResult } }
    },
    async ({ params }) => viewMigrationWithResult(await requireMigration(params.id), await findResult(params.id))
  )

  app.delete(
    '/migrations/:id',
    {
      config,
      schema: {
        ...one,
        summary: 'Remove a migration',
        description: 'Deletes the token and what was read. What came here stays. 409 while somebody works on it.',
        response: { 200: Migration },
        errors: [409]
      }
    },
    async ({ params, origin }) => viewMigration(await deleteMigration(await requireMigration(params.id), origin))
  )

  for (const { work, summary, body } of WORKS) {
    app.post(
      `/migrations/:id/${work}`,
      { config, schema: { ...later, operationId: `${work}Migration`, summary, description: asksWhile, body } },
      async ({ params, body, origin }, reply) =>
        reply.code(202).send(viewMigration(await requestWork(await requireMigration(params.id), work, body, origin)))
    )
  }

  app.post(
    '/migrations/:id/cancel',
    {
      config,
      schema: {
        ...later,
        operationId: 'cancelMigration',
        summary: 'Cancel the work of a migration',
        description:
          'The work ends within seconds: then `busy` is false. What has come stays, and the next run continues. 409 when no request waits or runs.'
      }
    },
    async ({ params, origin }, reply) =>
      reply.code(202).send(viewMigration(await cancelWork(await requireMigration(params.id), origin)))
  )

  app.get(
    '/migrations/:id/placeholders',
    {
      config,
      schema: {
        ...one,
        summary: 'List the people of a migration who have no user here',
        querystring: MigrationListQuery,
        response: { 200: Type.Array(Placeholder) }
      }
    },
    async ({ params, query }, reply) =>
      reply.page(await pagePlaceholders(await requireMigration(params.id), query), viewPlaceholder)
  )

  app.post(
    '/migrations/:id/placeholders/:placeholder_id/assign',
    {
      config,
      schema: {
        tags,
        operationId: 'assignMigrationPlaceholder',
        summary: 'Give the records of a placeholder to a user',
        description:
          'The placeholder is deleted. 409 when a project of the user has the path or name of a personal project of the placeholder, or when the user cannot sign in.',
        params: PlaceholderParams,
        body: AssignBody,
        response: { 201: Placeholder },
        errors: [409]
      }
    },
    async ({ params, body, origin }, reply) => {
      const migration = await requireMigration(params.id)
      return reply.code(201).send(viewPlaceholder(await assign(migration, params.placeholder_id, body.user, origin)))
    }
  )
}
