import { testAccess } from '../../access/matrix.js'
import { access as jobs } from './jobs.access.js'

testAccess([jobs])
