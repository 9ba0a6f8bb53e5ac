extern __shared__ __align__(128) unsigned char smem[];
__global__ void k() { __shared__ int part[32]; }
