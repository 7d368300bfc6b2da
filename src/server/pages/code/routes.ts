// The pages of a repository.
import type { FastifyPluginAsync } from 'fastify'
import { commitPages } from './commits.js'
import { filePages } from './files.js'

export const codePages: FastifyPluginAsync = async app => {
  await app.register(commitPages)
  await app.register(filePages)
}
